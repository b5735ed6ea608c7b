import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { Column, Entity, PrimaryColumn } from 'typeorm'
import { ETag, Resource, SoftDeletable, TenantScoped } from '../../../decorators/index.js'
import { Aborted, ErrConflict, ErrNotFound, ErrPreconditionFailed } from '../../../lib/errors.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { increment } from '../../../lib/resource/values/increment.js'
import { collated } from '../../conformance/repository/open-subject.js'
import { asTenant } from '../../conformance/repository/subject.js'
import { databases, describeOn, coalesced, type OpenBackend } from '../../support/databases/backends.js'
import { drill } from '../../support/drill.js'
import { type Observed, SerialRow } from './serial-model.js'

@Resource()
@Entity('crates')
@TenantScoped()
@SoftDeletable()
class Crate {
  @PrimaryColumn() id!: string
  @Column() title!: string
  @Column({ type: 'int' }) size!: number
  @ETag() etag!: string
  accountId!: string
  deleteTime?: Date
}
const Crates = repositoryOf(Crate)

const CALLERS = 64
const TENANTS = ['acme', 'globex', 'initech', 'umbrella'] as const
/** Each tenant has a row of each; the first gets a quarter of all calls. */
const KEYS = ['hot', 'k1', 'k2', 'k3', 'k4', 'k5'] as const

/** What is checked together. */
const ROUND_MS = drill(250, 5000)
const ROUNDS = drill(1, 24)

const one = <T>(of: readonly T[]): T => of[Math.floor(Math.random() * of.length)] as T

/** An increment gives up where the row comes and goes under it. It has not written then. */
const givenUp = (error: unknown): void => {
  if (!(error instanceof Aborted)) throw error
}

/** A crate that a call made under a key that it did not choose. */
interface Made {
  readonly tenant: string
  readonly id: string
  readonly title: string
}

describeOn('callers with conflicting writes', [...databases, ...coalesced], (backend) => {
  let opened: OpenBackend
  let crates: InstanceType<typeof Crates>
  before(async () => {
    opened = await backend.open([Crate])
    const dataSource = opened.dataSource as DataSource
    await createTables(collated(dataSource, backend), [Crate], opened.database?.dialect.name ?? 'sqlite')
    crates = new Crates(dataSource)
    for (const tenant of TENANTS)
      for (const id of KEYS) await asTenant(tenant, () => crates.create({ id, title: 'first', size: 0 }))
  })
  after(() => opened?.close())

  const everyRow = <T>(work: (tenant: string, id: string) => Promise<T>): Promise<T[]> =>
    Promise.all(TENANTS.flatMap((tenant) => KEYS.map((id) => asTenant(tenant, () => work(tenant, id)))))

  it(`agree with writes one after the other, in ${ROUNDS} rounds of ${ROUND_MS} ms`, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const rows = await everyRow(
        async (tenant, id) => new SerialRow(`${tenant} ${id}`, (await crates.get(id)) satisfies Observed),
      )
      const made: Made[] = []
      const until = performance.now() + ROUND_MS
      const caller = async (number: number) => {
        for (let call = 0; performance.now() < until; call++)
          await new Caller(crates, rows, made, `${round}-${number}-${call}`).call()
      }
      await Promise.all(Array.from({ length: CALLERS }, (_, number) => caller(number)))
      const last = await everyRow((_, id) => crates.get(id))
      for (const [i, row] of rows.entries()) row.check(last[i] as Observed)
      await checkMade(made)
    }
  })

  /** Every crate that was made is there once, as it was made; and no other. */
  async function checkMade(made: readonly Made[]): Promise<void> {
    for (const tenant of TENANTS) {
      const mine = made.filter((crate) => crate.tenant === tenant)
      await asTenant(tenant, async () => {
        expect(await crates.count(), `crates of ${tenant}`).to.equal(KEYS.length + mine.length)
        for (let i = 0; i < mine.length; i += 500) {
          const some = mine.slice(i, i + 500)
          const found = await crates.batchGet(some.map(({ id }) => id))
          expect(found.map(({ id, title }) => ({ tenant, id, title }))).to.deep.equal(some)
          await crates.batchDelete(some.map(({ id }) => id))
        }
      })
    }
  }
})

/** One call on a row that others write as well. */
class Caller {
  constructor(
    private readonly crates: InstanceType<typeof Crates>,
    private readonly rows: readonly SerialRow[],
    private readonly made: Made[],
    private readonly mark: string,
  ) {}

  async call(): Promise<void> {
    const tenant = one(TENANTS)
    const id = Math.random() < 0.25 ? KEYS[0] : one(KEYS)
    const row = this.rows[TENANTS.indexOf(tenant) * KEYS.length + KEYS.indexOf(id)] as SerialRow
    await asTenant(tenant, () => this.#any(row, tenant, id)).catch((error: unknown) => {
      const isOfRaces =
        error instanceof ErrNotFound || error instanceof ErrPreconditionFailed || error instanceof ErrConflict
      if (!isOfRaces) throw error
    })
  }

  async #any(row: SerialRow, tenant: string, id: string): Promise<void> {
    const { crates, mark } = this
    const dice = Math.random()
    if (dice < 0.3) await this.#rename(row, id)
    else if (dice < 0.5) {
      const { etag } = await row.read(() => crates.get(id))
      await this.#rename(row, id, etag)
    } else if (dice < 0.65)
      await row
        .write({ kind: 'increment' }, () => crates.update(id, { size: increment(1) }, ['size']))
        .catch(givenUp)
    else if (dice < 0.75) {
      const title = `made ${mark}`
      const crate = await crates.create({ title, size: 0 })
      expect(crate).to.deep.include({ title, accountId: tenant })
      this.made.push({ tenant, id: crate.id, title })
    } else if (dice < 0.8) await crates.create({ id, title: `never ${mark}`, size: 0 })
    else if (dice < 0.85) {
      await row.write({ kind: 'delete' }, () => crates.delete(id))
      await this.#undelete(row, id)
    } else await row.read(() => crates.get(id))
  }

  async #rename(row: SerialRow, id: string, required?: string): Promise<void> {
    const title = `${this.mark} ${required === undefined ? 'any' : 'that'}`
    await row.write({ kind: 'update', title, required }, () =>
      this.crates.update(id, { title }, ['title'], required === undefined ? {} : { ifMatch: required }),
    )
  }

  async #undelete(row: SerialRow, id: string): Promise<void> {
    await row.write({ kind: 'undelete' }, () => this.crates.undelete(id))
  }
}
