import { expect } from 'chai'
import { DataSource, type DataSourceOptions } from 'typeorm'
import { Unavailable } from '../../../../lib/errors.js'
import { executorOf } from '../../../../lib/persistence/engines/executor-of.js'
import { type OpenSubject, openSubject } from '../../../conformance/repository/open-subject.js'
import { draft, inAcme } from '../../../conformance/repository/subject.js'
import { describeOn, pooled } from '../../../support/databases/backends.js'
import { HOSTILE } from '../../../support/databases/pooled-database.js'
import { rejection } from '../../../support/rejection.js'
import type { Specimen } from '../../../support/entities/specimen.js'
import { column, run } from '../../../support/databases/statement.js'

const CALLERS = 20
const ROUNDS = 8

/** Values that PostgreSQL writes as text in as many ways as it has settings. */
const VALUES = {
  blob: Uint8Array.from({ length: 256 }, (_, byte) => byte),
  ratio: Math.fround(3.4e38),
  score: 0.1 + 0.2,
  dueTime: new Date('2024-02-01T23:59:59.123Z'),
  span: -90_000_000_001n,
}

describeOn('a repository behind a transaction pooler', pooled, (backend) => {
  let subject: OpenSubject
  let dataSource: DataSource
  before(async () => {
    subject = await openSubject(backend)
    dataSource = subject.dataSource as DataSource
  })
  after(() => subject?.close())
  beforeEach(() => subject.clear())

  /** What the server sessions say that callers meet, each as often as it is met. */
  const sessions = async (): Promise<readonly (readonly unknown[])[]> => {
    const settings = Object.keys(HOSTILE).map((name) => `current_setting('${name}')`)
    const text = `SELECT pg_backend_pid(), (SELECT count(*) FROM pg_prepared_statements), ${settings.join(', ')}`
    const met = await Promise.all(Array.from({ length: CALLERS }, () => run(executorOf(dataSource), text)))
    return met.map(({ rows }) => rows[0] ?? [])
  }

  it('reads what was written on whichever session comes', () =>
    inAcme(async () => {
      const { specimens } = subject
      const keys = await Promise.all(
        Array.from({ length: CALLERS }, async () => (await specimens.create(draft(VALUES))).id),
      )
      const isAsWritten = (entity: Specimen | undefined) => expect(entity).to.deep.include(VALUES)
      const caller = async (key: string) => {
        for (let round = 0; round < ROUNDS; round++) {
          isAsWritten(await specimens.get(key))
          isAsWritten((await specimens.list({ filter: `id = "${key}"` })).items[0])
          isAsWritten(await specimens.update(key, { count: round }, ['count']))
          isAsWritten((await specimens.batchUpdate([{ key, entity: { count: 1 }, fieldMask: ['count'] }]))[0])
          await specimens.transaction(async () => {
            await specimens.delete(key)
            isAsWritten(await specimens.undelete(key))
            isAsWritten((await specimens.batchGet([key]))[0])
          })
        }
      }
      await Promise.all(keys.map(caller))
      expect(new Set((await sessions()).map(([pid]) => pid)).size).to.be.greaterThan(1)
    }))

  it('finds and orders by what it reads in another form', () =>
    inAcme(async () => {
      const { specimens } = subject
      const scores = [-1e300, -2, -0.1, 1e-7, 0.1 + 0.2, 3, 10, 2e10]
      for (const score of [...scores].reverse()) await specimens.create(draft({ score }))
      const seen: number[] = []
      for (let pageToken = '', first = true; first || pageToken !== ''; first = false) {
        const page = await specimens.list({ orderBy: 'score', pageSize: 3, pageToken })
        seen.push(...page.items.map(({ score }) => score))
        pageToken = page.nextPageToken
      }
      expect(seen).to.deep.equal(scores)
      expect((await specimens.list({ filter: 'score = 0.30000000000000004' })).items).to.have.length(1)
    }))

  it('has a statement cancelled on the server that takes longer than query_timeout', async () => {
    const options = { ...dataSource.options, poolSize: 1, extra: { query_timeout: 200 } }
    const hasty = await new DataSource(options as DataSourceOptions).initialize()
    try {
      await rejection(run(executorOf(hasty), 'SELECT pg_sleep(60)'), Unavailable, 'query_timeout')
      const busy = `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid()`
      while ((await column(executorOf(dataSource), busy))[0] !== '0');
      expect(await column(executorOf(hasty), 'SELECT 1')).to.deep.equal(['1'])
    } finally {
      await hasty.destroy()
    }
  })

  it('leaves no prepared statement on a session, and no setting that the next client does not know of', async () => {
    await inAcme(async () => {
      const { id } = await subject.specimens.create(draft())
      for (let round = 0; round < 3 * ROUNDS; round++) await subject.specimens.get(id)
    })
    const { bytea_output: bytes, extra_float_digits: digits, IntervalStyle: intervals } = HOSTILE
    const left = await sessions()
    expect(left).to.not.have.length(0)
    for (const [, prepared, ...settings] of left)
      expect([prepared, ...settings]).to.deep.equal(['0', bytes, digits, 'ISO, MDY', 'UTC', intervals])
  })
})
