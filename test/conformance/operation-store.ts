import { expect } from 'chai'
import type { OperationRecord, OperationStore } from '../../lib/server/operations/operation-store.js'

/** A store with a way to let time pass for it. */
export interface OperationSubject {
  readonly store: OperationStore
  /** Another process' view of the same store. */
  readonly other: OperationStore
  /** How long what has ended is kept, in milliseconds. */
  readonly ttlMs: number
  pass(ms: number): Promise<void>
}

const LEASE_MS = 60_000

/** Everything an OperationStore promises. */
export function conformsToOperationStore(open: () => OperationSubject): void {
  let count = 0
  const newRecord = (tenant = 'acme'): OperationRecord => ({
    name: `operations/${String(++count).padStart(6, '0')}-${process.pid}`,
    tenant,
    method: '/a.v1.B/C',
    status: 'pending',
    metadata: { type: 'a.v1.Progress', value: Buffer.from([1, 10, 255]) },
    response: undefined,
    failure: undefined,
  })

  const plain = (record: OperationRecord | undefined) =>
    record && {
      ...record,
      metadata: record.metadata && { ...record.metadata, value: [...record.metadata.value] },
      response: record.response && { ...record.response, value: [...record.response.value] },
      failure: record.failure && {
        ...record.failure,
        details: record.failure.details?.map(({ type, value }) => [type, ...value]),
      },
    }

  const made = async (tenant?: string): Promise<OperationRecord> => {
    const record = newRecord(tenant)
    await open().store.create(record, 'me', LEASE_MS)
    return record
  }

  it('finds an operation from every process', async () => {
    const record = await made()
    for (const one of [open().store, open().other]) {
      expect(plain(await one.find('acme', record.name))).to.deep.equal(plain(record))
    }
  })

  it('finds nothing by a name or tenant that a column cannot hold', async () => {
    const { store } = open()
    const { name } = await made()
    for (const [tenant, other] of [
      ['acme', `${name}\0`],
      ['acme\0', name],
      ['acme', '\ud800'],
    ] as const) {
      expect(await store.find(tenant, other)).to.equal(undefined)
      expect(await store.requestCancel(tenant, other)).to.equal(false)
      expect(await store.remove(tenant, other)).to.equal(false)
      expect((await store.list(tenant, '\0', 10)).every(({ tenant: of }) => of === tenant)).to.equal(true)
    }
  })

  const ends: readonly Pick<OperationRecord, 'status' | 'response' | 'failure'>[] = [
    { status: 'succeeded', response: { type: 'a.v1.D', value: Buffer.from([0, 7]) }, failure: undefined },
    {
      status: 'succeeded',
      response: { type: 'google.protobuf.Empty', value: Buffer.alloc(0) },
      failure: undefined,
    },
    { status: 'failed', response: undefined, failure: { code: 5, message: 'not "found" ä' } },
    {
      status: 'failed',
      response: undefined,
      failure: {
        ...{ code: 9, message: 'full' },
        details: [
          { type: 'a.v1.D', value: Uint8Array.of(8, 7, 255) },
          { type: 'a.v1.E', value: new Uint8Array(0) },
        ],
      },
    },
    { status: 'cancelled', response: undefined, failure: { code: 1, message: 'cancelled' } },
  ]
  for (const end of ends)
    it(`keeps how it ended: ${end.status} with ${end.response?.type ?? end.failure?.message ?? ''}`, async () => {
      const { store, other } = open()
      const record = await made()
      expect((await store.write(record.name, 'me', { end }, LEASE_MS)).isHeld).to.equal(true)
      expect(plain(await other.find('acme', record.name))).to.deep.equal(plain({ ...record, ...end }))
      const again = { status: 'failed', response: undefined, failure: { code: 13, message: 'late' } } as const
      expect((await store.write(record.name, 'me', { end: again }, LEASE_MS)).isHeld).to.equal(false)
      expect((await other.find('acme', record.name))?.status).to.equal(end.status)
    })

  it('keeps progress, and the old one where a write has none', async () => {
    const { store } = open()
    const record = await made()
    const metadata = { type: 'a.v1.Progress', value: Buffer.from([2]) }
    await store.write(record.name, 'me', { metadata }, LEASE_MS)
    await store.write(record.name, 'me', {}, LEASE_MS)
    expect(plain(await store.find('acme', record.name))?.metadata).to.deep.equal({
      type: 'a.v1.Progress',
      value: [2],
    })
  })

  it('lets only the owner write', async () => {
    const { store } = open()
    const record = await made()
    const end = { status: 'succeeded', response: undefined, failure: undefined } as const
    expect((await store.write(record.name, 'you', { end }, LEASE_MS)).isHeld).to.equal(false)
    expect((await store.find('acme', record.name))?.status).to.equal('pending')
  })

  it('hides operations from other tenants', async () => {
    const { store } = open()
    const { name } = await made('mine')
    expect(await store.find('theirs', name)).to.equal(undefined)
    expect(await store.requestCancel('theirs', name)).to.equal(false)
    expect(await store.remove('theirs', name)).to.equal(false)
    expect(await store.list('theirs', '', 10)).to.deep.equal([])
    expect((await store.write(name, 'me', {}, LEASE_MS)).isCancelRequested).to.equal(false)
    expect((await store.find('mine', name))?.status).to.equal('pending')
  })

  it('notifies the worker of a cancellation', async () => {
    const { store, other } = open()
    const { name } = await made()
    expect((await store.write(name, 'me', {}, LEASE_MS)).isCancelRequested).to.equal(false)
    expect(await other.requestCancel('acme', name)).to.equal(true)
    expect(await store.write(name, 'me', {}, LEASE_MS)).to.deep.equal({
      isHeld: true,
      isCancelRequested: true,
    })
  })

  it('lists in pages, in the order of the names', async () => {
    const { store } = open()
    const names = [(await made('pages')).name, (await made('pages')).name, (await made('pages')).name]
    const first = await store.list('pages', '', 2)
    expect(first.map(({ name }) => name)).to.deep.equal(names.slice(0, 2))
    const rest = await store.list('pages', first[1]?.name ?? '', 2)
    expect(rest.map(({ name }) => name)).to.deep.equal(names.slice(2))
  })

  it('returns NOT_FOUND for a removed operation', async () => {
    const { store, other } = open()
    const { name } = await made()
    expect(await other.remove('acme', name)).to.equal(true)
    expect(await other.remove('acme', name)).to.equal(false)
    expect(await store.find('acme', name)).to.equal(undefined)
    expect((await store.write(name, 'me', {}, LEASE_MS)).isHeld).to.equal(false)
  })

  it('fails an operation permanently if its worker is dead', async () => {
    const { store, other, pass } = open()
    const { name } = await made()
    await pass(LEASE_MS + 1)
    const found = await other.find('acme', name)
    expect(found).to.deep.include({ status: 'failed' })
    expect(found?.failure).to.deep.equal({
      code: 14,
      message: 'the process that ran it no longer exists: start it again',
    })
    const end = { status: 'succeeded', response: undefined, failure: undefined } as const
    expect((await store.write(name, 'me', { end }, LEASE_MS)).isHeld).to.equal(false)
    expect((await store.find('acme', name))?.status).to.equal('failed')
  })

  it('holds one whose lease is renewed', async () => {
    const { store, other, pass } = open()
    const { name } = await made()
    await store.write(name, 'me', {}, 2 * LEASE_MS)
    await pass(LEASE_MS + 1)
    expect((await other.find('acme', name))?.status).to.equal('pending')
  })

  it('deletes ended operations when they expire', async () => {
    const { store, ttlMs, pass } = open()
    const { name } = await made()
    const end = { status: 'succeeded', response: undefined, failure: undefined } as const
    await store.write(name, 'me', { end }, LEASE_MS)
    await pass(ttlMs + 1)
    await made()
    expect(await store.find('acme', name)).to.equal(undefined)
  })
}
