import 'reflect-metadata'
import { expect } from 'chai'
import { Column, type ColumnOptions, type DataSource, Entity, PrimaryColumn } from 'typeorm'
import { ETag, Resource, SoftDeletable, Tags, TenantScoped, UpdateTime } from '../../../decorators/index.js'
import { RequestContext } from '../../../lib/context.js'
import { Cancelled, ErrNotFound, ErrPreconditionFailed } from '../../../lib/errors.js'
import type { PoolUse } from '../../../lib/persistence/engines/executor/executor.js'
import { watchStatements } from '../../../lib/persistence/engines/watch-statements.js'
import { RoundTrip } from '../../../lib/persistence/coalescing/round-trip.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import type { PartValue } from '../../../lib/resource/keys/key-part.js'
import type { EntityClass } from '../../../lib/resource/resource-model.js'
import { declareKey, KEY_TYPES, type KeyType } from '../../conformance/keys/key-types.js'
import { asTenant } from '../../conformance/repository/subject.js'
import { type Backend, describeOn, mergers, openWithTables } from '../../support/databases/backends.js'
import { drill } from '../../support/drill.js'
import { until } from '../../support/until.js'

const ROUNDS = drill(2, 400)
/** Of one row in a round, at most. */
const CALLS = 4

interface Bale {
  id: PartValue
  orgId: PartValue
  title?: string
  size: number
  weight?: bigint
  tags: Record<string, string>
  etag: string
}

/** Types of tenants, each with texts of which some are nearly the same. */
const TENANTS: readonly {
  readonly column: ColumnOptions
  readonly design: unknown
  readonly texts: readonly string[]
}[] = [
  { column: { type: 'varchar', length: 40 }, design: String, texts: ['acme', 'Acme', '{"', 'NULL'] },
  { column: { type: 'int' }, design: Number, texts: ['2', '-2', '2147483647'] },
  {
    column: { type: 'bigint' },
    design: BigInt,
    texts: ['9007199254740992', '9007199254740993', '-9223372036854775808'],
  },
  { column: { type: 'int', unsigned: true }, design: Number, texts: ['0', '4294967295'] },
  {
    column: { type: 'uuid' },
    design: String,
    texts: ['0189f7ea-ae2c-7809-8aeb-b819cf5e9e7f', '0189f7ea-ae2c-7809-8aeb-b819cf5e9e80'],
  },
]

/** Texts that are written otherwise in arrays, in JSON or in SQL, or that look like another one. */
const TEXTS = ["'", '"', '\\', '{}', 'NULL', ',', 'a\nb', '\u0001', 'é', 'e\u0301', 'k', 'k ', '\u200b', '$1']

function declared(key: KeyType, at: number) {
  const { column, design, texts } = TENANTS[at % TENANTS.length] as (typeof TENANTS)[0]
  @Entity(`bales_${at}`)
  @SoftDeletable()
  class AnyBale implements Bale {
    id!: PartValue
    orgId!: PartValue
    @Column({ type: 'text', nullable: true }) title?: string
    @Column({ type: 'int' }) size!: number
    @Column({ type: 'bigint', nullable: true }) weight?: bigint
    @Tags() tags!: Record<string, string>
    @UpdateTime() updateTime!: Date
    @ETag() etag!: string
    deleteTime?: Date
  }
  declareKey(AnyBale, 'id', key.design, PrimaryColumn(key.column as never))
  declareKey(AnyBale, 'orgId', design, Column({ ...column, name: 'owner' }))
  TenantScoped({ column: 'orgId' })(AnyBale)
  Resource({ type: `bale_${at}` })(AnyBale)
  const keys = key.name === 'text' ? [...key.keys, ...TEXTS] : key.keys
  const rows = texts.flatMap((tenant) => keys.map((id) => ({ id, tenant })))
  return { name: `${key.name}, tenants ${String(column.type)}`, Bale: AnyBale as EntityClass<Bale>, rows }
}

const below = (most: number) => Math.floor(Math.random() * most)
const pick = <T>(from: readonly T[]): T => from[below(from.length)] as T
const MASKS = [['size'], ['size', 'title'], ['size', 'weight', 'tags'], ['size', 'title', 'weight', 'tags']]
const values = (): Partial<Bale> => ({
  size: below(2 ** 31),
  tags: pick([{}, { 'a"b': '{c,d}' }, { '': '\\' }]),
  ...(below(4) > 0 && { title: pick(['', 'NULL', '"\\{},', 'é\u{1F600}', 'x'.repeat(200)]) }),
  ...(below(200) === 0 && { title: 'x'.repeat(300_000) }),
  ...(below(4) > 0 && { weight: pick([0n, -(2n ** 63n), 2n ** 63n - 1n]) }),
})

/** A row of one tenant, and what is known of it. */
interface Known {
  readonly id: PartValue
  readonly tenant: string
  /** Undefined where there is no live row. */
  held: Bale | undefined
}

class Round {
  readonly #calls: (() => Promise<void>)[] = []
  readonly #checks: (() => Promise<void>)[] = []

  constructor(
    private readonly bales: ReturnType<typeof repositoryFor>,
    private readonly alone: ReturnType<typeof repositoryFor>,
    private readonly use: PoolUse | undefined,
  ) {}

  /** Some read the row, and some write it; a few leave while they wait. */
  plan(row: Known): void {
    const before = row.held
    const seen = new Map(before && [[before.etag, before]])
    const writes = below(2) * below(CALLS)
    const found: Bale[] = []
    let [left, deleted, matched] = [0, 0, 0]
    const call = <T>(work: () => Promise<T>, done: (result: T) => void) =>
      this.#calls.push(async () => {
        const end = new AbortController()
        const running = RequestContext.as({ tenant: row.tenant, subject: 'ada' }, () =>
          RequestContext.current().with({ signal: end.signal }).run(work),
        )
        if (below(8) === 0) setTimeout(() => end.abort(), below(4))
        await running.then(done, (error: unknown) => {
          if (error instanceof Cancelled) left++
          else if (error instanceof ErrPreconditionFailed) expect(writes).to.be.greaterThan(1)
          else {
            expect(error).to.be.instanceOf(ErrNotFound)
            if (writes === 0) expect(before, this.#nameOf(row)).to.equal(undefined)
          }
        })
      })
    for (let at = 0; at < writes; at++) {
      const ifMatch = at % 2 === 0 ? before?.etag : undefined
      const options = ifMatch === undefined ? {} : { ifMatch }
      const wrote = () => void (matched += Number(ifMatch !== undefined))
      const [given, mask] = [values(), pick(MASKS)]
      if (below(6) === 0)
        call(
          () => this.bales.delete(row.id, options),
          () => {
            wrote()
            deleted++
          },
        )
      else
        call(
          () => this.bales.update(row.id, given, mask as never, options),
          (written) => {
            wrote()
            expect(written.size, this.#nameOf(row)).to.equal(given.size)
            seen.set(written.etag, written)
          },
        )
    }
    for (let at = below(CALLS); at >= 0; at--)
      call(
        () => this.bales.get(row.id),
        (one) => {
          expect([one.id, String(one.orgId)]).to.deep.equal([row.id, row.tenant])
          found.push(one)
        },
      )
    this.#checks.push(() => this.#check(row, seen, found, { left, deleted, matched }))
  }

  async run(): Promise<void> {
    await Promise.all(this.#calls.sort(() => Math.random() - 0.5).map((start) => start()))
    // Statements whose callers have left may still write. SQLite reads behind them.
    await until(() => this.use === undefined || this.use.used + this.use.waiting === 0)
    await Promise.all(this.#checks.map((check) => check()))
  }

  async #check(
    row: Known,
    seen: ReadonlyMap<string, Bale>,
    found: readonly Bale[],
    { left, deleted, matched }: Readonly<Record<'left' | 'deleted' | 'matched', number>>,
  ): Promise<void> {
    const get = () => this.alone.get(row.id)
    row.held = await asTenant(row.tenant, get).catch((error: unknown) => {
      expect(error).to.be.instanceOf(ErrNotFound)
      return undefined
    })
    const name = this.#nameOf(row)
    expect(matched, name).to.be.at.most(1)
    expect(deleted, name).to.be.at.most(1)
    // What a caller that has left has written nobody was told.
    if (left > 0) return
    for (const one of found) expect(one, name).to.deep.equal(seen.get(one.etag))
    if (deleted > 0 || seen.size === 0) expect(row.held, name).to.equal(undefined)
    else expect(row.held, name).to.deep.equal(seen.get(row.held?.etag ?? ''))
  }

  #nameOf = ({ id, tenant }: Known): string => `${String(id)} of ${tenant}`
}

const repositoryFor = (entity: EntityClass<Bale>, dataSource: DataSource, merge: 'all' | 'off') =>
  new (repositoryOf(entity))(dataSource, { coalesce: merge })

/** MariaDB compares texts alone with many. */
const kindsOn = ({ name }: Backend) =>
  KEY_TYPES.map(declared).filter(
    (_, at) => KEY_TYPES[at]?.isOf?.(name) !== false && (name !== 'mariadb' || at === 0),
  )

describeOn('random calls that share statements', mergers, (backend) => {
  const kinds = kindsOn(backend)
  const { hasRoom } = RoundTrip.prototype
  let dataSource: DataSource
  let close: () => Promise<void>
  let use: PoolUse | undefined
  let together = 0

  before(async () => {
    const opened = await openWithTables(
      backend,
      kinds.map(({ Bale }) => Bale),
    )
    dataSource = opened.dataSource as DataSource
    ;({ close } = opened)
    use = opened.database?.use
    watchStatements(dataSource, ({ calls }) => {
      if (calls > 1) together++
    })
    RoundTrip.prototype.hasRoom = (statements) => statements === 0
  })
  after(async () => {
    RoundTrip.prototype.hasRoom = hasRoom
    await close?.()
  })

  for (const { name, Bale, rows } of kinds)
    it(`do what calls alone do, to their own rows: ${name}`, async () => {
      const [bales, alone] = [
        repositoryFor(Bale, dataSource, 'all'),
        repositoryFor(Bale, dataSource, 'off'),
      ] as const
      const known = await Promise.all(
        rows.map(async ({ id, tenant }): Promise<Known> => {
          if (below(8) === 0) return { id, tenant, held: undefined }
          const held = await asTenant(tenant, () => alone.create({ ...values(), id } as Bale))
          return { id, tenant, held }
        }),
      )
      together = 0
      for (let round = 0; round < ROUNDS; round++) {
        const calls = new Round(bales, alone, use)
        for (const row of known) {
          if (row.held === undefined && round % 2 === 1)
            row.held = await asTenant(row.tenant, () => alone.undelete(row.id)).catch(() => undefined)
          calls.plan(row)
        }
        await calls.run()
      }
      expect(together).to.be.greaterThan(0)
    })
})
