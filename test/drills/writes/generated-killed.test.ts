import { expect } from 'chai'
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { DataSource } from 'typeorm'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import { NUMBERED } from '../../conformance/keys/numbered.js'
import { collated } from '../../conformance/repository/open-subject.js'
import { databases, describeOn, type OpenBackend } from '../../support/databases/backends.js'
import { applyBaseline } from '../../support/databases/baseline.js'
import { drill } from '../../support/drill.js'
import type { Answered, CreatesErrand } from '../hosts/generated-writer.js'

const ROUNDS = drill(2, 120)
const WRITERS = 4
/** Enough that all of them are in the middle of some create. */
const LEAST_STATEMENTS = 30
const VICTIM = fileURLToPath(new URL('../hosts/generated-writer.js', import.meta.url))

/** Runs the errand in a process of its own. */
const send = (errand: CreatesErrand): Promise<{ ended: unknown; answered: readonly Answered[] }> =>
  new Promise((resolve, reject) => {
    const child = fork(VICTIM, { execArgv: [] })
    const answered: Answered[] = []
    child.on('message', (said: Answered | 'ready') => {
      if (said === 'ready') child.send(errand)
      else answered.push(said)
    })
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ ended: signal ?? code, answered }))
  })

const SESSIONS = {
  postgres: `SELECT pid AS session FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'`,
  mariadb: 'SELECT id AS session FROM information_schema.processlist WHERE db = DATABASE()',
} as const

const killable = databases.filter(({ name }) => name === 'postgres' || name === 'mariadb')

describeOn('a process killed between a minted row and its event', killable, ({ name, open }) => {
  const engine = name as keyof typeof SESSIONS
  let opened: OpenBackend
  let dataSource: DataSource

  const sessions = async () =>
    (await dataSource.query<{ session: unknown }[]>(SESSIONS[engine])).map(({ session }) => String(session))
  const column = async (text: string) =>
    (await dataSource.query<{ value: unknown }[]>(text)).map(({ value }) => String(value))

  before(async () => {
    const entities = NUMBERED.flatMap(({ Ticket, Step }) => [Ticket, Step])
    opened = await open(entities)
    dataSource = opened.dataSource as DataSource
    const backend = killable.find((one) => one.name === name)!
    await createTables(collated(dataSource, backend), entities, opened.database!.dialect.name)
    await applyBaseline(dataSource)
  })
  after(() => opened?.close())

  it(`leaves each row with its one event, and no number twice, ${ROUNDS} times`, async () => {
    const { url } = dataSource.options as { readonly url: string }
    let kept = 0
    for (let round = 0; round < ROUNDS; round++) {
      const known = await sessions()
      // One statement more each time, so that every statement of a create is the last one of some round.
      const last = LEAST_STATEMENTS + round
      const { ended, answered } = await send({ engine, url, name: `round ${round}`, writers: WRITERS, last })
      expect(ended, `round ${round}`).to.equal('SIGKILL')
      // The server goes on with what it has received, and notices only then that nobody is there.
      while ((await sessions()).some((session) => !known.includes(session)));
      for (const [type, { Ticket }] of NUMBERED.entries()) {
        const { table, type: resource } = resourceModel(Ticket)
        const rows = await column(`SELECT id AS value FROM ${table} ORDER BY id`)
        const told = await column(
          `SELECT aggregate_id AS value FROM outbox WHERE aggregate_type = '${resource}'`,
        )
        const inOrder = told.sort((a, b) => Number(a) - Number(b))
        expect(inOrder, `${resource} after statement ${last}`).to.deep.equal(rows)
        expect(rows).to.include.members(answered.filter((one) => one.type === type).map(({ id }) => id))
        kept += rows.length
      }
    }
    expect(kept).to.be.greaterThan(0)
  })
})
