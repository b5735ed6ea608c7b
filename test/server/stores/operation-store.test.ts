import { MemoryOperationStore } from '../../../lib/server/stores/memory-operation-store.js'
import { SqlOperationStore } from '../../../lib/server/stores/sql-operation-store.js'
import { conformsToOperationStore, type OperationSubject } from '../../conformance/operation-store.js'
import { applyBaseline } from '../../support/baseline.js'
import { databases, describeOn, type OpenBackend } from '../../support/backends.js'

/** The database's clock cannot be handed in, so its stores are given short lives and these tests wait for them. */
const really = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
const SHORT_MS = 400

describe('MemoryOperationStore', () => {
  let now = 0
  const store = new MemoryOperationStore({ now: () => new Date(now) })
  conformsToOperationStore((): OperationSubject => ({
    store,
    other: store,
    ttlMs: 3_600_000,
    pass: async (ms) => void (now += ms),
  }))
})

describeOn('SqlOperationStore', databases, (backend) => {
  let opened: OpenBackend
  let subject: OperationSubject

  before(async () => {
    opened = await backend.open([])
    const { dataSource } = opened
    if (dataSource === undefined) throw new TypeError('no database')
    await applyBaseline(dataSource)
    const open = () => new SqlOperationStore(dataSource, { ttlMs: SHORT_MS })
    subject = { store: open(), other: open(), ttlMs: SHORT_MS, pass: really }
  })

  after(() => opened?.close())

  conformsToOperationStore(() => subject)
})
