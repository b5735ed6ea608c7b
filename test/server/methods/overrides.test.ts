import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { WidgetService } from '../../../examples/widgets/gen/widgets_pb.js'
import { Widget } from '../../../examples/widgets/widget.js'
import { RequestContext } from '../../../lib/context.js'
import { ErrConflict } from '../../../lib/errors.js'
import { memoryRepositoryOf, repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import type { OperationOptions, Repository } from '../../../lib/persistence/contract/repository.js'
import { withContextInOverrides } from '../../../lib/server/methods/overrides.js'
import { backends, describeOn, type OpenBackend } from '../../support/databases/backends.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { ALICE, type RunningServer, startServer } from '../../support/servers/server.js'

type Base = new (...options: never[]) => Repository<Widget>

/** Makes two widgets of one, and none when the second one cannot be made. */
const inPairs = (base: Base) =>
  class extends (base as new (...options: unknown[]) => Repository<Widget>) {
    override create(widget: Partial<Widget>, options?: OperationOptions): Promise<Widget> {
      return this.transaction(async ({ principal }) => {
        expect(principal).to.equal(RequestContext.current().principal)
        // The context of the call, from outside of the transaction: the obvious thing to hand on.
        const first = await super.create({ ...widget, displayName: `${widget.displayName} 1` }, options)
        await super.create({ ...widget, id: 'second', displayName: `${widget.displayName} 2` }, options)
        return first
      })
    }
  }

const withoutMysql8 = backends.filter(({ name }) => name !== 'mysql8')

describeOn('an operation that the application overrides', withoutMysql8, (backend) => {
  let opened: OpenBackend
  let running: RunningServer
  let client: ForeignClient

  before(async () => {
    opened = await backend.open([Widget])
    if (opened.dataSource !== undefined)
      await createTables(opened.dataSource, [Widget], opened.database!.dialect.name)
    const repository =
      opened.dataSource === undefined
        ? new (inPairs(memoryRepositoryOf(Widget) as never))()
        : new (
            inPairs(repositoryOf(Widget) as never) as unknown as new (on: DataSource) => Repository<Widget>
          )(opened.dataSource)
    running = await startServer((builder) =>
      builder.register(WidgetService, repository, { retireWidget: () => ({}) }),
    )
    client = new ForeignClient(WidgetService, running.grpc)
  })
  after(async () => {
    client?.close()
    await running?.stop()
    await opened?.close()
  })

  it('runs in the context of its call, and its transaction takes everything back', async () => {
    const create = (id: string) =>
      client.unary('CreateWidget', { widget: { display_name: 'Anvil' }, widget_id: id }, ALICE)
    const names = async () => {
      const { answer } = await client.unary('ListWidgets', { order_by: 'display_name' }, ALICE)
      return (answer?.['widgets'] as { display_name: string }[]).map(({ display_name }) => display_name)
    }
    expect((await create('')).details).to.equal('OK')
    expect(await names()).to.deep.equal(['Anvil 1', 'Anvil 2'])
    expect((await create('')).code).to.equal(6)
    expect(await names()).to.deep.equal(['Anvil 1', 'Anvil 2'])
  })
})

describeOn(
  'a transaction that an interceptor opens around the rest of the call',
  withoutMysql8,
  (backend) => {
    const overriding = (base: Base) =>
      class extends (base as new (...options: unknown[]) => Repository<Widget>) {
        override create(widget: Partial<Widget>, options?: OperationOptions): Promise<Widget> {
          return super.create(widget, options)
        }
      }
    const asItIs = (base: Base) => base as unknown as ReturnType<typeof overriding>
    let opened: OpenBackend

    before(async () => {
      opened = await backend.open([Widget])
      if (opened.dataSource !== undefined)
        await createTables(opened.dataSource, [Widget], opened.database!.dialect.name)
    })
    after(() => opened?.close())

    for (const [what, made] of [
      ['a standard method', asItIs],
      ['an overridden operation', overriding],
    ] as const)
      it(`is joined by ${what}, and by an implementation of the application`, async () => {
        const repository =
          opened.dataSource === undefined
            ? new (made(memoryRepositoryOf(Widget) as never))()
            : new (made(repositoryOf(Widget) as never))(opened.dataSource)
        const running = await startServer((builder) =>
          builder
            .register(WidgetService, repository, {
              retireWidget: async () => {
                await repository.create({ displayName: 'Retired' })
                return {}
              },
            })
            .interceptors((call, next) =>
              call.path.endsWith('ListWidgets')
                ? next()
                : repository.transaction(async () => {
                    await next()
                    throw new ErrConflict()
                  }),
            ),
        )
        const client = new ForeignClient(WidgetService, running.grpc)
        try {
          const created = await client.unary('CreateWidget', { widget: { display_name: 'Anvil' } }, ALICE)
          const retired = await client.unary('RetireWidget', { id: 'any' }, ALICE)
          expect([created.code, retired.code]).to.deep.equal([6, 6])
          const { answer } = await client.unary('ListWidgets', {}, ALICE)
          expect(answer?.['widgets'] ?? []).to.deep.equal([])
        } finally {
          client.close()
          await running.stop()
        }
      })
  },
)

describe('a repository without overrides', () => {
  it('is called as it is, which enters no context', () => {
    const plain = new (memoryRepositoryOf(Widget))()
    expect(withContextInOverrides(plain)).to.equal(plain)
  })
})

describe('a repository that is frozen', () => {
  it('is called in the context of its call', async () => {
    const seen: RequestContext[] = []
    const repository = new (memoryRepositoryOf(Widget))()
    const list: Repository<Widget>['list'] = () => {
      seen.push(RequestContext.current())
      return Promise.resolve({ items: [], nextPageToken: '' })
    }
    const context = new RequestContext({ requestId: 'r' })
    await withContextInOverrides(Object.freeze(Object.assign(repository, { list }))).list({}, { context })
    expect(seen).to.deep.equal([context])
  })
})

describe('the operations that standard methods call', () => {
  /** The index of the parameter in which each takes its options. */
  const operations = {
    ...{ get: 1, list: 1, count: 1, batchGet: 1, transaction: 1 },
    ...{ create: 1, update: 3, delete: 1, undelete: 1, batchUpdate: 1, batchDelete: 1 },
  }
  for (const [name, at] of Object.entries(operations))
    it(`run in the context of their call where the application overrides ${name}`, async () => {
      const seen: RequestContext[] = []
      const repository = new (memoryRepositoryOf(Widget))()
      const operation = () => Promise.resolve(void seen.push(RequestContext.current()))
      const context = new RequestContext({ requestId: 'r' })
      const operands = [...Array<undefined>(at), { context }]
      const called = withContextInOverrides(Object.assign(repository, { [name]: operation }))
      await (called as unknown as Record<string, (...operands: unknown[]) => Promise<unknown>>)[name]!(
        ...operands,
      )
      expect(seen).to.deep.equal([context])
    })
})
