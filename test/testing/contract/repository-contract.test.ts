import { expect } from 'chai'
import { Column, Entity, PrimaryColumn } from 'typeorm'
import { ETag, Expirable, Resource, SoftDeletable, TenantScoped } from '../../../decorators/index.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import {
  type BatchUpdateItem,
  MemoryRepository,
  memoryRepositoryOf,
  repositoryOf,
  type UpdateOptions,
  type WriteOptions,
} from '../../../lib/persistence/index.js'
import {
  type ContractSubject,
  fixedClock,
  fixedIds,
  repositoryContract,
  type TestFramework,
  withTenant,
} from '../../../lib/testing/index.js'
import { RequestContext } from '../../../lib/context.js'
import { Shelf } from '../../../examples/library/shelf.js'
import { Widget } from '../../../examples/widgets/widget.js'
import { ErrNotFound } from '../../../lib/errors.js'
import { declareKey, KEY_TYPES, type KeyType } from '../../conformance/keys/key-types.js'
import { openSubject, type OpenSubject } from '../../conformance/repository/open-subject.js'
import { subjectOptions } from '../../conformance/repository/subject.js'
import {
  backends,
  describeOn,
  type OpenBackend,
  distributed,
  openWithTables,
  pooled,
} from '../../support/databases/backends.js'
import { drilling } from '../../support/drill.js'
import { Note, Specimen } from '../../support/entities/specimen.js'

const change = { patch: { title: 'changed', count: 7 }, mask: ['title', 'count'] }
const make = (n: number): Partial<Specimen> => ({
  title: `title ${n}`,
  code: `code-${n}`,
  tags: { n: String(n) },
})

describe('repositoryContract of a resource whose message has a name and no field of its key', () => {
  repositoryContract<Shelf>(() => ({
    repository: new (memoryRepositoryOf(Shelf))(),
    make: (n) => ({ theme: `theme ${n}` }),
    change: { patch: { theme: 'changed' }, mask: ['theme'] },
  }))
})

describe('repositoryContract of an application with a table of tenants', () => {
  class Listed extends memoryRepositoryOf(Shelf) {
    override create(...given: never[]): Promise<Shelf> {
      const { tenant } = RequestContext.current()
      if (tenant !== 'listed' && tenant !== 'other' && tenant !== '') throw new ErrNotFound()
      return super.create(...(given as unknown as [Shelf]))
    }
  }
  repositoryContract<Shelf>(() => ({
    repository: new Listed(),
    tenants: ['listed', 'other'],
    make: (n) => ({ theme: `theme ${n}` }),
    change: { patch: { theme: 'changed' }, mask: ['theme'] },
  }))
})

describeOn('repositoryContract', [...backends, ...pooled, ...distributed], (backend) => {
  let subject: OpenSubject
  before(async () => {
    subject = await openSubject(backend)
  })
  after(() => subject?.close())

  describe('of a resource that has everything', () => {
    repositoryContract(async (): Promise<ContractSubject<Specimen>> => {
      await subject.clear()
      return { repository: subject.specimens, make, change }
    })
  })

  describe('of a resource that has nothing', () => {
    repositoryContract(async (): Promise<ContractSubject<Note>> => {
      await subject.clear()
      const make = (n: number) => ({ text: `text ${n}` })
      return { repository: subject.notes, make, change: { patch: { stars: 5 }, mask: ['stars'] } }
    })
  })
})

const TENANTS = [
  [String, { type: String }],
  [String, { type: 'uuid' }],
  [BigInt, { type: 'bigint' }],
  [Number, { type: 'int' }],
] as const

/** With an etag and soft deletion, or expiry, or nothing: by the place of the type. */
function ofKey({ name, column, design, isOf = () => true }: KeyType, at: number) {
  class OfKey {
    id!: string
    accountId!: string
    stars?: number
    etag!: string
    deleteTime?: Date
    expireTime?: Date
  }
  declareKey(OfKey, 'id', design, PrimaryColumn(column as never))
  const [tenant, type] = TENANTS[at % TENANTS.length] as (typeof TENANTS)[number]
  declareKey(OfKey, 'accountId', tenant, Column({ ...type } as never))
  declareKey(OfKey, 'stars', Number, Column({ type: 'int', nullable: true }))
  if (at % 3 === 0) declareKey(OfKey, 'etag', String, ETag())
  const decorators = [
    Entity(`contract_${at}`),
    TenantScoped(),
    ...[[SoftDeletable()], [Expirable()], []][at % 3]!,
  ]
  for (const decorate of [...decorators, Resource({ type: `contract_${at}` })]) decorate(OfKey)
  return { name, isOf, OfKey }
}

const OF_KEYS = KEY_TYPES.map(ofKey)
const SHARED = ['memory', 'sqlite', 'postgres', 'mariadb', 'mysql8', 'pgbouncer', 'better-sqlite3'] as const

describeOn('repositoryContract of keys', [...backends, ...pooled, ...distributed], (backend) => {
  // In `npm test` each type is asked on one or two of the backends.
  const asked = OF_KEYS.filter(
    ({ isOf }, at) => isOf(backend.name) && (drilling || (at + SHARED.indexOf(backend.name)) % 4 === 0),
  )
  let opened: OpenBackend
  before(async () => {
    opened = await openWithTables(
      backend,
      asked.map(({ OfKey }) => OfKey),
    )
  })
  after(() => opened?.close())

  for (const { name, OfKey } of asked)
    describe(name, () =>
      repositoryContract(async () => {
        const { dataSource } = opened
        await dataSource?.query(`DELETE FROM ${resourceModel(OfKey).table}`)
        const repository =
          dataSource === undefined ? new (memoryRepositoryOf(OfKey))() : new (repositoryOf(OfKey))(dataSource)
        return { repository, make: () => ({}), change: { patch: { stars: 5 }, mask: ['stars'] } } as never
      }),
    )
})

/** Runs the contract in a framework that keeps count; answers the names of the cases that failed. */
async function failuresOf<E extends object>(factory: () => ContractSubject<E>): Promise<string[]> {
  const failed: string[] = []
  const cases: [string, () => void | Promise<void>][] = []
  let prepare = () => Promise.resolve()
  const framework: TestFramework = {
    describe: (_, body) => body(),
    it: (name, body) => cases.push([name, body]),
    beforeEach: (body) => void (prepare = body),
    afterEach: () => {},
  }
  repositoryContract(factory, framework)
  for (const [name, body] of cases) {
    await prepare()
    await Promise.resolve()
      .then(body)
      .catch(() => failed.push(name))
  }
  expect(cases.length).to.be.greaterThan(25)
  return failed
}

/** A repository in memory with one operation replaced. */
function brokenBy(breaking: (working: MemoryRepository<Specimen>) => object): ContractSubject<Specimen> {
  const working = new MemoryRepository(Specimen, subjectOptions)
  const broken = new MemoryRepository(Specimen, subjectOptions)
  for (const name of OPERATIONS) Object.assign(broken, { [name]: working[name].bind(working) })
  return { repository: Object.assign(broken, breaking(working)), make, change }
}

const OPERATIONS = [
  ...(['get', 'list', 'count', 'exists', 'create', 'update', 'modify', 'delete', 'undelete'] as const),
  ...(['batchGet', 'batchUpdate', 'batchDelete', 'purgeExpired', 'transaction'] as const),
]

describe('repositoryContract', () => {
  const broken: readonly (readonly [
    what: string,
    breaking: (working: MemoryRepository<Specimen>) => object,
    noticed: string,
  ])[] = [
    [
      'forgets to compare the etag',
      (working) => ({
        update: (key: string, entity: Specimen, mask?: string[]) => working.update(key, entity, mask),
      }),
      'of two updates with one etag exactly one succeeds',
    ],
    [
      'takes an increment for a value',
      (working) => ({
        update: (key: string, entity: Partial<Specimen>, mask: ['count'], options: WriteOptions) =>
          working.update(key, { ...entity, ...(mask.join() === 'count' && { count: 5 }) }, mask, options),
      }),
      'an increment is added to the stored value, or rejected with a TypeError',
    ],
    [
      'takes touchOnly for any update',
      (working) => ({
        update: (key: string, entity: Specimen, mask: string[], options: UpdateOptions) =>
          working.update(key, entity, mask, { ...options, touchOnly: false }),
      }),
      'update with touchOnly writes no field, whatever the mask contains',
    ],
    [
      'takes touchOnly of an item for any update',
      (working) => ({
        batchUpdate: (items: BatchUpdateItem<string, Specimen>[]) =>
          working.batchUpdate(items.map((item) => ({ ...item, fieldMask: ['*'], touchOnly: false }))),
      }),
      'batchUpdate with touchOnly writes no field of that item',
    ],
    [
      'deletes nothing',
      () => ({ delete: () => Promise.resolve() }),
      'delete hides the entity, and keeps its row if the resource is soft-deletable',
    ],
    [
      'knows no pages',
      (working) => ({ list: () => working.list() }),
      'pages contain every entity once, and the last page has no token',
    ],
    [
      'shows one tenant to all',
      (working) => ({ get: (key: string) => withTenant('tenant', () => working.get(key)) }),
      'hides the entity from another tenant',
    ],
    [
      'has no transactions',
      () => ({ transaction: (work: () => unknown) => work() }),
      'a transaction writes everything, or nothing',
    ],
    [
      'deletes one by one',
      (working) => ({
        batchDelete: async (keys: string[]) => {
          for (const key of keys) await working.delete(key)
        },
      }),
      'batchDelete deletes all rows, or none if one key is unknown',
    ],
    [
      'hands out what it keeps',
      (working) => {
        const kept = new Map<string, Specimen>()
        const get = async (key: string) =>
          kept.get(key) ?? working.get(key).then((one) => (kept.set(key, one), one))
        return { get }
      },
      'returned entities are copies',
    ],
  ]
  for (const [what, breaking, noticed] of broken)
    it(`notices a repository that ${what}`, async () => {
      expect(await failuresOf(() => brokenBy(breaking))).to.include(noticed)
    })

  it('passes what is right', async () => {
    const Specimens = memoryRepositoryOf(Specimen)
    const factory = () => ({ repository: new Specimens(subjectOptions), make, change })
    expect(await failuresOf(factory)).to.deep.equal([])
  })

  it('takes repositories whose keys are numbers', async () => {
    @Resource({ shared: true })
    @Entity('typed_ints')
    class OfInt {
      @PrimaryColumn('int') id!: number
      @Column({ type: 'int', nullable: true }) stars?: number
    }
    @Resource({ shared: true })
    @Entity('typed_bigints')
    class OfBigint {
      @PrimaryColumn('bigint') id!: bigint
      @Column({ type: 'int', nullable: true }) stars?: number
    }
    const change = { patch: { stars: 5 }, mask: ['stars'] }
    const ints = (): ContractSubject<OfInt> => {
      const repository = new (memoryRepositoryOf(OfInt))()
      return { repository, make: () => ({}), change }
    }
    const bigints = (): ContractSubject<OfBigint> => {
      const repository = new (memoryRepositoryOf(OfBigint))()
      return { repository, make: () => ({}), change }
    }
    expect([await failuresOf(ints), await failuresOf(bigints)]).to.deep.equal([[], []])
  })
})

describe('withTenant', () => {
  it('runs as somebody of the tenant', async () => {
    const run = () => Promise.resolve(RequestContext.current().tenant)
    expect(await withTenant('acme', run)).to.equal('acme')
    expect(RequestContext.current().tenant).to.equal('')
  })
})

describe('fixedClock', () => {
  it('stands still until it is told to go on', () => {
    const clock = fixedClock('2026-01-01T00:00:00Z')
    clock().setTime(0)
    expect(clock()).to.deep.equal(new Date('2026-01-01T00:00:00Z'))
    expect(clock.advance(1500)).to.deep.equal(new Date('2026-01-01T00:00:01.500Z'))
    clock.set(new Date(5))
    expect(clock()).to.deep.equal(new Date(5))
  })

  it('refuses what is not a date', () => {
    expect(() => fixedClock('soon')).to.throw(RangeError, 'soon is not a date')
  })

  it('is what a repository stamps with, and fixedIds what it names by', () =>
    withTenant('acme', async () => {
      const now = fixedClock('2026-01-01T00:00:00Z')
      const widgets = new MemoryRepository(Widget, { now, newKey: fixedIds('widget') })
      const made = [await widgets.create({}), await widgets.create({})]
      expect(made.map(({ id }) => id)).to.deep.equal(['widget-0001', 'widget-0002'])
      now.advance(1)
      expect((await widgets.update('widget-0001', { size: 1 }, ['size'])).updateTime).to.deep.equal(now())
    }))
})
