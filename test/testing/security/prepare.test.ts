import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { widgetsDataSource } from '../../../examples/widgets/data-source.js'
import { WidgetService } from '../../../examples/widgets/gen/widgets_pb.js'
import { WidgetRepository } from '../../../examples/widgets/widget-repository.js'
import { InvalidArgument } from '../../../lib/errors.js'
import { RequestContext } from '../../../lib/context.js'
import { ServerBuilder } from '../../../lib/server/index.js'
import { securityCheck, type SecurityOptions } from '../../../lib/testing/index.js'
import type { TestServer } from '../../../lib/testing/harness/test-server.js'
import { preparing } from '../../../lib/testing/security/world/prepare.js'
import type { Side } from '../../../lib/testing/security/world/world.js'

const RETIRE = '/widgets.v1.WidgetService/RetireWidget'
const WIDGET = 'widgets.v1.Widget'

describe('a security check of a service that needs state', () => {
  let dataSource: DataSource
  beforeEach(async () => {
    dataSource = await widgetsDataSource(':memory:').initialize()
  })
  afterEach(() => dataSource.destroy())

  const opened = new Set<string>()
  const sold = new Set<string>()
  const started: string[] = []
  /** Widgets are created in tenants that are open, and retired once they are sold. */
  const builder = () => {
    const widgets = new WidgetRepository(dataSource)
    const check = widgets.create.bind(widgets)
    widgets.create = async (entity, ...rest) => {
      if (!opened.has(RequestContext.current().principal.tenant))
        throw new InvalidArgument('', 'the tenant is not open')
      return check(entity, ...rest)
    }
    return new ServerBuilder()
      .gateway({ updateMask: 'normalize' })
      .workers({ start: () => void started.push('worker'), drain: async () => {} } as never)
      .register(WidgetService, widgets, {
        retireWidget: async ({ id }) => {
          await widgets.get(id)
          if (!sold.has(id)) throw new InvalidArgument('id', 'the widget is not sold')
          return widgets.model.toMessage(await widgets.retire(id))
        },
      })
  }
  beforeEach(() => {
    for (const one of [opened, sold]) one.clear()
    started.length = 0
  })

  const prepare: SecurityOptions['prepare'] = {
    [WIDGET]: async ({ tenant }) => opened.add(tenant),
    [RETIRE]: async ({ client, keys: [id = ''] }) => {
      await client(WidgetService).getWidget({ id })
      sold.add(id)
    },
  }

  it('checks every method with the state that prepare creates, for both tenants', async () => {
    const { findings, notChecked } = await securityCheck(builder(), { prepare })
    expect([findings, notChecked]).to.deep.equal([[], []])
    expect(opened.size).to.be.at.least(2)
    expect(sold.size).to.be.at.least(2)
  })

  it('leaves methods unchecked without the state', async () => {
    const withoutSales = await securityCheck(builder(), {
      prepare: { [WIDGET]: async ({ tenant }) => opened.add(tenant) },
    })
    expect(withoutSales.notChecked.map(({ method }) => method)).to.deep.equal([RETIRE])
    opened.clear()
    expect((await securityCheck(builder())).passed).to.equal(false)
  })

  it('rejects a function for a name that the server does not have, and names one that fails', async () => {
    const none = async () => {}
    for (const name of ['/widgets.v1.WidgetService/Gone', 'widgets.v1.Gone'])
      expect(await rejection(securityCheck(builder(), { prepare: { [name]: none } }))).to.include(name)
    const failing = { [WIDGET]: () => Promise.reject(new TypeError('no money')) }
    expect(await rejection(securityCheck(builder(), { prepare: failing }))).to.equal(
      `prepare: the function of ${WIDGET} failed: no money`,
    )
  })

  it('names a function that throws what is not an error, and one that does not return', async () => {
    for (const thrown of [null, undefined, 'no money']) {
      const failing = { [WIDGET]: () => Promise.reject(thrown as unknown as Error) }
      expect(await rejection(securityCheck(builder(), { prepare: failing }))).to.equal(
        `prepare: the function of ${WIDGET} failed: ${thrown}`,
      )
    }
    const server = { as: () => ({}) } as unknown as TestServer
    const prepared = preparing({ [WIDGET]: () => new Promise(() => {}) }, server, 5)
    const side = { tenant: 't', headers: {} } as unknown as Side
    expect(await rejection(prepared(WIDGET, side))).to.equal(
      `prepare: the function of ${WIDGET} failed: it took more than 0.005 s`,
    )
  })

  it('starts the workers of a builder only if it is told to', async () => {
    await securityCheck(builder(), { prepare })
    expect(started).to.deep.equal([])
    await securityCheck(builder(), { prepare, startWorkers: true })
    expect(started).to.deep.equal(['worker'])
  })
})

const rejection = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => '',
    (error: unknown) => (error as Error).message,
  )
