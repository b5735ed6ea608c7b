import 'reflect-metadata'
import { expect } from 'chai'
import type { INestApplication } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { WidgetService } from '../../examples/widgets/gen/widgets_pb.js'
import { widgetsApp } from '../../examples/widgets/nest.js'
import { Widget } from '../../examples/widgets/widget.js'
import { WidgetRepository } from '../../examples/widgets/widget-repository.js'
import {
  AshlarExceptionFilter,
  principalMiddleware,
  dataSourceToken,
  repositoryToken,
  serverToken,
} from '../../lib/nest/index.js'
import type { Server } from '../../lib/server/server.js'
import { ForeignClient } from '../support/grpc/clients.js'
import { post, recordingLogger } from '../support/servers/server.js'

const ADA = { 'account-id': 'acme', subject: 'ada', groups: 'staff' }
const BOB = { 'account-id': 'globex', subject: 'bob', groups: 'staff' }

describe('the widget service under Nest', () => {
  let app: INestApplication
  let server: Server
  let grpc: ForeignClient
  let nest: string
  let gateway: string

  before(async () => {
    const logger = recordingLogger()
    app = await NestFactory.create(
      widgetsApp({ grpcAddr: '127.0.0.1:0', httpAddr: '127.0.0.1:0', logger }, ':memory:'),
      { logger: false },
    )
    app.use(principalMiddleware(({ headers }) => ({ tenant: String(headers['account-id'] ?? '') })))
    app.useGlobalFilters(new AshlarExceptionFilter())
    await app.listen(0, '127.0.0.1')
    server = app.get(serverToken())
    grpc = new ForeignClient(WidgetService, server.grpcAddr())
    gateway = `http://${server.httpAddr()}`
    nest = await app.getUrl()
  })
  after(async () => {
    grpc.close()
    await app.close()
  })

  const stock = async (path: string, headers: object = {}) => {
    const response = await fetch(`${nest}/stock${path}`, { headers: { ...headers } })
    return [response.status, await response.json()] as const
  }

  it('serves when the application has started, over gRPC and over HTTP', async () => {
    const made = await grpc.unary(
      'CreateWidget',
      { widget: { display_name: 'Anvil', size: 7 }, widget_id: 'anvil' },
      ADA,
    )
    expect([made.code, made.details]).to.deep.equal([0, 'OK'])
    const response = await fetch(`${gateway}/v1/widgets/anvil`, { headers: ADA })
    expect(await response.json()).to.include({ id: 'anvil', accountId: 'acme', size: 7 })
  })

  it('asks the methods of a provider for what no repository serves', async () => {
    const retired = await fetch(`${gateway}/v1/widgets/anvil:retire`, post(ADA))
    expect(await retired.json()).to.include({ id: 'anvil', state: 'RETIRED' })
  })

  it('shows a tenant nothing of another', async () => {
    expect((await grpc.unary('GetWidget', { id: 'anvil' }, BOB)).code).to.equal(5)
    expect((await fetch(`${gateway}/v1/widgets/anvil`, { headers: BOB })).status).to.equal(404)
    expect((await grpc.unary('GetWidget', { id: 'anvil' })).code).to.equal(7)
  })

  it('injects the repository into a controller, which reaches what its principal may', async () => {
    expect(await stock('', ADA)).to.deep.equal([200, [{ id: 'anvil', size: 7 }]])
    expect(await stock('', BOB)).to.deep.equal([200, []])
    expect((await stock('/anvil', ADA))[0]).to.equal(200)
    expect(await stock('/anvil', BOB)).to.deep.equal([404, { code: 5, message: 'not found' }])
    expect((await stock('', {}))[0]).to.equal(403)
  })

  it('keeps principals apart in requests that run at the same time', async () => {
    const all = await Promise.all(Array.from({ length: 40 }, (_, n) => stock('', n % 2 === 0 ? ADA : BOB)))
    expect(all.map(([, items]) => (items as object[]).length)).to.deep.equal(all.map((_, n) => (n + 1) % 2))
  })

  it('has one repository by token and by class, on the DataSource it was given', () => {
    const repository = app.get<WidgetRepository>(WidgetRepository)
    expect(repository).to.be.instanceOf(WidgetRepository)
    expect(app.get(repositoryToken(Widget))).to.equal(repository)
    expect(app.get(dataSourceToken())).to.have.property('isInitialized', true)
  })

  it('says how it is in the shape of a health check', async () => {
    expect(await stock('/health')).to.deep.equal([200, { ashlar: { status: 'up' } }])
  })
})
