import { expect } from 'chai'
import { ResourceExhausted } from '../../../lib/errors.js'
import { MemoryOperationStore } from '../../../lib/server/operations/memory-operation-store.js'
import type { OperationRecord } from '../../../lib/server/operations/operation-store.js'
import { SqlOperationStore } from '../../../lib/server/operations/sql-operation-store.js'
import { conformsToOperationStore, type OperationSubject } from '../../conformance/operation-store.js'
import { applyBaseline } from '../../support/databases/baseline.js'
import { agedRows } from '../../support/databases/statement.js'
import { databases, describeOn, type OpenBackend, pooled } from '../../support/databases/backends.js'
import { rejection } from '../../support/rejection.js'

const HOUR_MS = 3_600_000

describe('MemoryOperationStore', () => {
  let now = 0
  const store = new MemoryOperationStore({ now: () => new Date(now) })
  conformsToOperationStore((): OperationSubject => ({
    store,
    other: store,
    ttlMs: HOUR_MS,
    pass: async (ms) => void (now += ms),
  }))

  const LEASE_MS = 60_000
  const recordOf = (tenant: string, id: string): OperationRecord => ({
    name: `operations/${id}`,
    ...{ tenant, method: '/a.v1.B/C', status: 'pending' },
    ...{ metadata: undefined, response: undefined, failure: undefined },
  })
  const packed = (bytes: number) => ({ type: 'a.v1.D', value: Buffer.alloc(bytes) })
  const ended = (bytes: number) =>
    ({ status: 'succeeded', response: packed(bytes), failure: undefined }) as const
  const finish = async (operations: MemoryOperationStore, tenant: string, id: string, bytes: number) => {
    const record = recordOf(tenant, id)
    await operations.create(record, 'me', LEASE_MS)
    await operations.write(record.name, 'me', { end: ended(bytes) }, LEASE_MS)
  }

  it('keeps the newest ended operations of a tenant, as many bytes as its share has', async () => {
    const operations = new MemoryOperationStore({ maxBytes: 8_000_000, maxTenantBytes: 1_000_000 })
    await finish(operations, 'other', 'theirs', 1000)
    for (let n = 100; n < 200; n++) await finish(operations, 'acme', `${n}`, 100_000)
    const kept = (await operations.list('acme', '', 1000)).map(({ name }) => name)
    expect(kept.length).to.be.within(8, 9)
    expect(kept.at(-1)).to.equal('operations/199')
    expect((await operations.find('other', 'operations/theirs'))?.status).to.equal('succeeded')
  })

  it('never gives up an operation that runs: it refuses to start another', async () => {
    const operations = new MemoryOperationStore({ maxBytes: 80_000, maxTenantBytes: 10_000 })
    let started = 0
    const start = () =>
      operations.create(recordOf('acme', `${started}`), 'me', LEASE_MS).then(() => started++)
    const refusal = await rejection(
      (async () => {
        for (;;) await start()
      })(),
      ResourceExhausted,
    )
    expect(refusal.wireMessage).to.equal('too many operations of this tenant are running: retry later')
    expect(started).to.be.within(5, 10)
    expect(await operations.list('acme', '', 1000)).to.have.length(started)
    await operations.create(recordOf('other', 'x'), 'me', LEASE_MS)
  })

  it('says that an operation failed whose response it has no room for', async () => {
    const operations = new MemoryOperationStore({ maxBytes: 800_000, maxTenantBytes: 100_000 })
    await finish(operations, 'acme', 'large', 200_000)
    expect(await operations.find('acme', 'operations/large')).to.deep.include({
      status: 'failed',
      response: undefined,
      failure: {
        code: 8,
        message: 'the work was done, but there is no room to store its response of 200000 bytes',
      },
    })
  })

  it('passes over progress that it has no room for', async () => {
    const operations = new MemoryOperationStore({ maxBytes: 800_000, maxTenantBytes: 100_000 })
    const record = recordOf('acme', 'x')
    await operations.create(record, 'me', LEASE_MS)
    for (const bytes of [5, 200_000])
      expect(
        (await operations.write(record.name, 'me', { metadata: packed(bytes) }, LEASE_MS)).isHeld,
      ).to.equal(true)
    expect((await operations.find('acme', record.name))?.metadata?.value).to.have.length(5)
  })

  it('starts an operation without walking those that are there', async () => {
    const work = async (size: number) => {
      let asked = 0
      const operations = new MemoryOperationStore({ now: () => new Date(asked++) })
      for (let n = 0; n < size; n++) await operations.create(recordOf('acme', `${n}`), 'me', LEASE_MS)
      const before = asked
      await operations.create(recordOf('acme', 'more'), 'me', LEASE_MS)
      return asked - before
    }
    expect(await work(4000)).to.equal(await work(1000))
  })
})

describeOn('SqlOperationStore', [...databases, ...pooled], (backend) => {
  let opened: OpenBackend
  let subject: OperationSubject

  before(async () => {
    opened = await backend.open([])
    const { dataSource, database } = opened
    if (dataSource === undefined || database === undefined) throw new TypeError('no database')
    await applyBaseline(dataSource)
    const open = () => new SqlOperationStore(dataSource)
    const pass = (ms: number) => agedRows(database, 'operations', ['lease_until', 'expires_at'], ms)
    subject = { store: open(), other: open(), ttlMs: HOUR_MS, pass }
  })

  after(() => opened?.close())

  conformsToOperationStore(() => subject)
})
