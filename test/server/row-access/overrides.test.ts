import { expect } from 'chai'
import { Column, type DataSource, Entity, PrimaryColumn } from 'typeorm'
import { ETag, Resource, TenantScoped } from '../../../decorators/index.js'
import { RequestContext } from '../../../lib/context.js'
import { ErrNotFound, InvalidArgument, PermissionDenied } from '../../../lib/errors.js'
import type { OperationOptions, Repository } from '../../../lib/persistence/contract/repository.js'
import { memoryRepositoryOf } from '../../../lib/persistence/index.js'
import { filter } from '../../../lib/persistence/query/filter-template.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import type { Restriction } from '../../../lib/server/authz/decision.js'
import { RestrictedRepository } from '../../../lib/server/row-access/restricted-repository.js'
import { backends, describeOn } from '../../support/databases/backends.js'
import { drill } from '../../support/drill.js'

@Resource()
@Entity('stays')
@TenantScoped()
class Stay {
  @PrimaryColumn({ length: 20 }) id!: string
  @Column({ length: 20 }) owner!: string
  @Column() nights!: number
  @ETag() etag!: string
  accountId!: string
}

const OPERATIONS = ['get', 'batchGet', 'list', 'count', 'create', 'update', 'modify'] as const
const MORE = ['delete', 'batchUpdate', 'batchDelete', 'updateMany', 'deleteMany'] as const
const METHODS = [...OPERATIONS, ...MORE]
type Name = (typeof METHODS)[number]

/** How an override reaches the operation that it overrides. */
const WAYS = ['passes', 'drops', 'rebuilds', 'twice', 'in a transaction', 'with a manager'] as const
const OTHERS = ['by another of the kind', 'throws before', 'throws after', 'reads others before'] as const
const ALL_WAYS = [...WAYS, ...OTHERS, 'not at all'] as const
let way: (typeof ALL_WAYS)[number] = 'passes'
/** Whether an override runs inside of another one. */
let depth = 0
/** What overrides have read besides. */
const readBesides = new Set<string>()

type Method = (...operands: unknown[]) => Promise<unknown>
type Methods = Record<Name | 'transaction', Method> & { withManager?(manager: object): Methods }

/** Other operations of the kind, with what they are given. */
const another = (stays: Methods, name: Name, [first, second]: readonly unknown[]): Promise<unknown> => {
  switch (name) {
    case 'get':
      return stays.batchGet([first]).then((found) => (found as object[])[0])
    case 'update':
      return stays.modify(first, () => second)
    case 'delete':
      return stays.batchDelete([first])
    case 'list':
      return stays.count(first).then(() => ({ items: [], nextPageToken: '' }))
    default:
      return stays[name](first, second)
  }
}

/** Where the options of each method are. */
const OPTIONS_AT: Readonly<Record<Name, number>> = {
  ...{ get: 1, batchGet: 1, list: 1, count: 1, create: 1, update: 3, modify: 2, delete: 1 },
  ...{ batchUpdate: 1, batchDelete: 1, updateMany: 2, deleteMany: 1 },
}

/** Overrides each method in the way of the moment. */
const overriding = (Base: new (...operands: never[]) => object, dataSource: DataSource | undefined) => {
  class Ways extends (Base as new (...operands: unknown[]) => object) {}
  for (const name of METHODS)
    Object.defineProperty(Ways.prototype, name, {
      configurable: true,
      writable: true,
      async value(this: Methods, ...operands: unknown[]): Promise<unknown> {
        const base = (Base.prototype as Methods)[name]
        const index = OPTIONS_AT[name]
        const options = operands[index] as OperationOptions | undefined
        const run = (given?: object) =>
          base.call(
            this,
            ...operands.slice(0, index),
            ...Array.from({ length: Math.max(0, index - operands.length) }),
            given,
          )
        if (depth > 0) return run(options)
        depth++
        try {
          switch (way) {
            case 'drops':
              return await run()
            case 'rebuilds':
              return await run({ context: RequestContext.current() })
            case 'twice':
              if (!['create', 'delete', 'batchDelete', 'deleteMany'].includes(name)) await run(options)
              return await run(options)
            case 'in a transaction':
              return await this.transaction((context: RequestContext) => run({ context }))
            case 'with a manager':
              if (dataSource === undefined) return await run(options)
              return await this.transaction((context: RequestContext & { readonly manager: object }) =>
                (this.withManager?.(context.manager) as Methods)[name](...operands.slice(0, index)),
              )
            case 'by another of the kind':
              return await another(this, name, operands)
            case 'throws before':
              throw new InvalidArgument('nights', 'before')
            case 'throws after':
              await run(options)
              throw new InvalidArgument('nights', 'after')
            case 'reads others before': {
              const stored = RequestContext.as(RequestContext.current().principal, () =>
                (Base.prototype as Methods).list.call(this, {}),
              )
              for (const { owner } of ((await stored) as { items: Stay[] }).items) readBesides.add(owner)
              return await run(options)
            }
            case 'not at all':
              return name === 'list' ? { items: [], nextPageToken: '' } : name === 'count' ? 0 : {}
            default:
              return await run(options)
          }
        } finally {
          depth--
        }
      },
    })
  return Ways
}

const all: Restriction = { isNone: false, where: undefined, test: undefined, check: undefined }
const isAnns = (stay: object) => Promise.resolve((stay as Stay).owner === 'ann')
const DECISIONS: Readonly<Record<string, Restriction>> = {
  'a predicate': { ...all, where: filter`owner = "ann"` },
  'a function': { ...all, test: isAnns, check: isAnns, where: filter`owner = "ann" OR owner = "bob"` },
}

/** A number below `n`, the next one of a sequence. */
const random = (seed: number) => (n: number) => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return Math.floor((seed / 2 ** 32) * n)
}

describeOn('a restricted operation that an override reaches', backends, (backend) => {
  for (const [what, own] of Object.entries(DECISIONS))
    it(`reads and writes no row outside of ${what}, in whatever way`, async () => {
      const { dataSource, database, close } = await backend.open([Stay])
      try {
        if (dataSource !== undefined && database !== undefined)
          await createTables(dataSource, [Stay], database.dialect.name)
        const Base = dataSource === undefined ? memoryRepositoryOf(Stay) : repositoryOf(Stay)
        const Ways = overriding(Base as never, dataSource)
        const stays = new Ways(
          ...(dataSource === undefined ? [] : [dataSource]),
        ) as unknown as Repository<Stay>
        const decided = { own, readable: () => own, explain: () => {} }
        const pick = random(7)
        for (let round = 0; round < drill(120, 3000); round++) {
          const tenant = `t${round}`
          await RequestContext.as({ tenant, subject: 'ann' }, async () => {
            way = 'passes'
            for (const id of ['ann1', 'ann2', 'bob1', 'bob2'])
              await stays.create({ id, owner: id.slice(0, 3), nights: 1 })
            way = ALL_WAYS[pick(ALL_WAYS.length)] ?? 'passes'
            const name = METHODS[pick(METHODS.length)] ?? 'get'
            const kind = ['get', 'batchGet', 'list', 'count'].includes(name) ? 'reads' : 'writes'
            const within = new RestrictedRepository(stays as never, decided, kind) as unknown as Methods
            const key = ['ann1', 'bob1', 'none'][pick(3)] ?? 'none'
            const said = `${name} of ${key}, which ${way}, in round ${round}`
            const owner = key.startsWith('bob') ? 'bob' : 'ann'
            const patch = pick(3) === 0 ? { owner: 'bob' } : { nights: 9 }
            const operands: Readonly<Record<Name, readonly unknown[]>> = {
              get: [key],
              batchGet: [['ann1', key]],
              list: [{}],
              count: [{}],
              create: [{ id: 'new', owner, nights: 1 }],
              update: [key, patch, Object.keys(patch)],
              modify: [key, () => patch],
              delete: [key],
              batchUpdate: [
                ['ann2', key].map((one) => ({ key: one, entity: patch, fieldMask: Object.keys(patch) })),
              ],
              batchDelete: [['ann2', key]],
              updateMany: [filter`nights > 0 AND id != ${key}`, patch],
              deleteMany: [filter`nights > 0 AND id != ${key}`],
            }
            let failure: unknown
            let result: unknown
            try {
              result = await within[name](...operands[name])
            } catch (error) {
              failure = error
            }
            const found = JSON.stringify(result ?? null)
            // A list cannot ask a function about each row.
            if (own.test === undefined || name !== 'list') expect(found, said).to.not.include('"bob')
            if (failure !== undefined) {
              const isKnown = [InvalidArgument, ErrNotFound, PermissionDenied].some(
                (one) => failure instanceof one,
              )
              expect(isKnown || way === 'not at all', `${said}: ${String(failure)}`).to.equal(true)
            }
            if (way === 'throws before') expect(failure, said).to.be.instanceOf(InvalidArgument)
            if (way === 'not at all' && name !== 'list' && name !== 'count')
              expect(failure, said).to.be.instanceOf(TypeError)
            way = 'passes'
            const { items } = await stays.list({ orderBy: 'id' })
            const bobs = items
              .filter((stay) => stay.owner === 'bob')
              .map(({ id, nights }) => `${id} ${nights}`)
            expect(bobs, said).to.deep.equal(['bob1 1', 'bob2 1'])
          })
        }
        expect([...readBesides]).to.include('bob')
      } finally {
        await close()
      }
    })
})
