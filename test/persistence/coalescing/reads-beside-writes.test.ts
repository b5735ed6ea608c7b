import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { ErrNotFound } from '../../../lib/errors.js'
import { watchStatements } from '../../../lib/persistence/engines/watch-statements.js'
import { increment } from '../../../lib/resource/values/increment.js'
import { openSubject, type OpenSubject } from '../../conformance/repository/open-subject.js'
import { asTenant, draft } from '../../conformance/repository/subject.js'
import { databases, describeOn } from '../../support/databases/backends.js'
import { drill } from '../../support/drill.js'

const CALLERS = 64
const SECONDS = drill(2, 600)
/** Statements of several calls. A busy machine takes longer for as many. */
const SHARING = 10
const TENANTS = ['acme', 'globex', 'initech', 'umbrella']
/** The key of a row that all callers of a tenant write; every tenant has one. */
const SHARED = 'shared'

const postgres = databases.filter(({ name }) => name === 'postgres')

/** A caller with rows of its own, which it knows, since nobody else writes them. */
class Caller {
  readonly #titles = new Map<string, string>()
  #made = 0

  constructor(
    private readonly subject: OpenSubject,
    private readonly number: number,
    /** What has been committed to the shared row of each tenant, at least. */
    private readonly committed: Map<string, number>,
  ) {}

  get tenant(): string {
    return TENANTS[this.number % TENANTS.length] as string
  }

  async step(): Promise<void> {
    await asTenant(this.tenant, async () => {
      const chance = Math.random()
      if (chance < 0.1) await this.#create()
      else if (chance < 0.2) await this.#update()
      else if (chance < 0.25) await this.#delete()
      else if (chance < 0.3) await this.#writeShared()
      else if (chance < 0.5) await this.#readShared()
      else await this.#read()
    })
  }

  async #create(): Promise<void> {
    // The callers of different tenants use the same keys.
    const id = `row-${Math.floor(this.number / TENANTS.length)}-${++this.#made % 20}`
    if (this.#titles.has(id)) return
    const title = `${this.tenant} ${id} ${this.#made}`
    const made = this.subject.specimens.create(draft({ id, title, code: `${id} ${this.#made}` }))
    // A key stays taken after a soft delete.
    if (await made.then(Boolean, () => false)) this.#titles.set(id, title)
  }

  async #update(): Promise<void> {
    const id = this.#any()
    if (id === undefined) return
    const title = `${this.tenant} ${id} ${++this.#made}`
    await this.subject.specimens.update(id, { title }, ['title'])
    this.#titles.set(id, title)
  }

  async #delete(): Promise<void> {
    const id = this.#any()
    if (id === undefined) return
    await this.subject.specimens.delete(id)
    this.#titles.delete(id)
    const gone = await this.subject.specimens.get(id).catch((error: unknown) => error)
    expect(gone).to.be.instanceOf(ErrNotFound)
  }

  async #read(): Promise<void> {
    const id = this.#any()
    if (id === undefined) return
    const { accountId, title } = await this.subject.specimens.get(id)
    expect({ accountId, title }).to.deep.equal({ accountId: this.tenant, title: this.#titles.get(id) })
  }

  async #writeShared(): Promise<void> {
    const { count } = await this.subject.specimens.update(SHARED, { count: increment(1) }, ['count'])
    this.committed.set(this.tenant, Math.max(count, this.committed.get(this.tenant) ?? 0))
  }

  async #readShared(): Promise<void> {
    const atLeast = this.committed.get(this.tenant) ?? 0
    const { accountId, count } = await this.subject.specimens.get(SHARED)
    expect(accountId).to.equal(this.tenant)
    expect(count, 'a read that began after the commit').to.be.at.least(atLeast)
  }

  #any(): string | undefined {
    const ids = [...this.#titles.keys()]
    return ids[Math.floor(Math.random() * ids.length)]
  }
}

describeOn('merged reads beside writes', postgres, (backend) => {
  let subject: OpenSubject
  before(async () => {
    subject = await openSubject(backend)
    for (const tenant of TENANTS)
      await asTenant(tenant, () => subject.specimens.create(draft({ id: SHARED, code: SHARED, count: 0 })))
  })
  after(() => subject?.close())

  it(`return what was written before, and nothing of others: ${CALLERS} callers, ${SECONDS} s at least`, async () => {
    let sharing = 0
    const stop = watchStatements(subject.dataSource as DataSource, ({ calls }) => {
      if (calls > 1) sharing++
    })
    const committed = new Map<string, number>()
    const end = Date.now() + SECONDS * 1000
    const calling = Array.from({ length: CALLERS }, async (_, number) => {
      const caller = new Caller(subject, number, committed)
      while (Date.now() < end || sharing < SHARING) await caller.step()
    })
    await Promise.all(calling)
    stop()
    expect(sharing).to.be.at.least(SHARING)
  })
})
