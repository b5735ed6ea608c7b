import { expect } from 'chai'
import { AssertionError } from 'node:assert'
import { DataSource } from 'typeorm'
import { WidgetService } from '../../../examples/widgets/gen/widgets_pb.js'
import { widgetsDataSource } from '../../../examples/widgets/data-source.js'
import { WidgetRepository } from '../../../examples/widgets/widget-repository.js'
import { devAuthorizer, ServerBuilder } from '../../../lib/server/index.js'
import {
  captureSql,
  expectDenied,
  expectInvalidField,
  testServer,
  type TestServer,
  principalHeaders,
  withTenant,
} from '../../../lib/testing/index.js'
import { ErrNotFound, InvalidArgument, PermissionDenied } from '../../../lib/errors.js'

const ADA = { tenant: 'acme', subject: 'ada', groups: ['staff'] }
const staffOnly = devAuthorizer([
  { tenant: '*', subjects: ['group:staff'], verbs: ['*'], resource: 'widget' },
])

/** Whether an assertion fails, as opposed to passing or breaking. */
const fails = async (assertion: Promise<unknown>): Promise<string> => {
  const outcome = await assertion.then(
    () => 'passed',
    (error: unknown) => error,
  )
  if (outcome instanceof AssertionError) return outcome.message
  throw new TypeError(`no assertion failed: ${String(outcome)}`)
}

describe('testServer', () => {
  let dataSource: DataSource
  let server: TestServer
  let widgets: WidgetRepository

  before(async () => {
    dataSource = await widgetsDataSource(':memory:').initialize()
    widgets = new WidgetRepository(dataSource)
    const builder = new ServerBuilder({ grpcAddr: ':1', authorizer: staffOnly }).register(
      WidgetService,
      widgets,
      { retireWidget: async ({ id }) => widgets.model.toMessage(await widgets.retire(id)) },
    )
    server = await testServer(builder)
  })
  after(async () => {
    await server.stop()
    await dataSource.destroy()
  })

  it('serves typed calls of a principal, over both listeners', async () => {
    const ada = server.as(ADA)
    const made = await ada.client(WidgetService).createWidget({ widget: { displayName: 'Anvil' } })
    expect(made.accountId).to.equal('acme')
    const response = await ada.fetch(`/v1/widgets/${made.id}`)
    expect(await response.json()).to.include({ displayName: 'Anvil', accountId: 'acme' })
  })

  it('takes the identity of a single call, which wins', async () => {
    const { id } = await withTenant('acme', () => widgets.create({ displayName: 'Bolt' }))
    const client = server.as({ ...ADA, tenant: 'globex' }).client(WidgetService)
    const found = await client.getWidget({ id }, principalHeaders(ADA))
    expect(found.displayName).to.equal('Bolt')
    const { headers } = principalHeaders(ADA)
    expect((await server.fetch(`/v1/widgets/${id}`, { headers })).status).to.equal(200)
  })

  it('keeps one record per call, without writing it anywhere', async () => {
    const before = server.logs.records.length
    await server.as(ADA).client(WidgetService).listWidgets({})
    expect(server.logs.records.slice(before)).to.have.length(1)
    expect(server.logs.records.at(-1)?.fields).to.include({ code: 'OK', tenant: 'acme', subject: 'ada' })
    expect(server.logs.text()).to.include('/widgets.v1.WidgetService/ListWidgets')
  })

  it('leaves the builder as it was', async () => {
    const builder = new ServerBuilder({ grpcAddr: 'nowhere.invalid:1' })
    await (await testServer(builder)).stop()
    const refused = await builder
      .build()
      .serve(new AbortController().signal)
      .catch((error: Error) => error.message)
    expect(refused).to.match(/nowhere\.invalid/)
  })

  it('lets everybody with a name do everything when it is handed a function', async () => {
    await using open = await testServer((builder) =>
      builder.register(WidgetService, widgets, { retireWidget: () => ({}) }),
    )
    await open.as({ tenant: 'acme', subject: 'bob' }).client(WidgetService).listWidgets({})
    await expectDenied(open.client(WidgetService).listWidgets({}))
  })

  it('rejects with what keeps the server from starting', async () => {
    const outcome = await testServer((builder) => builder.register(WidgetService, {} as never)).catch(
      (error: Error) => error.message,
    )
    expect(outcome).to.include('has no implementation')
  })

  describe('expectDenied', () => {
    const call = (id: string) => () => server.fetch(`/v1/widgets/${id}`)

    it('passes for a denial of either listener, or of a repository', async () => {
      const { id } = await withTenant('acme', () => widgets.create({ displayName: 'Cog' }))
      expect(await expectDenied(call(id), call('none'))).to.equal('permission denied')
      await expectDenied(server.client(WidgetService).getWidget({ id }))
      await expectDenied(server.as({ subject: 'eve' }).client(WidgetService).getWidget({ id }))
      await expectDenied(widgets.get(id))
    })

    it('fails for a success, for another error, and for a denial that tells', async () => {
      const ada = server.as(ADA).client(WidgetService)
      expect(await fails(expectDenied(ada.listWidgets({})))).to.match(/the call succeeded/)
      expect(await fails(expectDenied(ada.getWidget({ id: 'none' })))).to.match(/not NOT_FOUND/)
      const telling = new PermissionDenied('this widget exists, and is not yours')
      expect(await fails(expectDenied(Promise.reject(telling)))).to.match(/must not reveal/)
      const other = () => Promise.reject(new PermissionDenied('no'))
      expect(await fails(expectDenied(call('none'), other))).to.match(/the same message/)
    })

    it('lets what is no response of a server through', async () => {
      const outcome = await expectDenied(fetch('http://127.0.0.1:1')).catch((error: unknown) => error)
      expect(outcome).to.be.instanceOf(TypeError).and.not.instanceOf(AssertionError)
    })
  })

  describe('expectInvalidField', () => {
    it('passes when the details name the field, over either listener and of a repository', async () => {
      const ada = server.as(ADA)
      const client = ada.client(WidgetService)
      expect(await expectInvalidField(client.listWidgets({ filter: 'nonsense = 1' }), 'filter')).to.not.equal(
        '',
      )
      await expectInvalidField(
        () => ada.fetch(`/v1/widgets?filter=${encodeURIComponent('nonsense = 1')}`),
        'filter',
      )
      await expectInvalidField(client.getWidget({}), 'id')
      await withTenant('acme', () => expectInvalidField(widgets.list({ pageToken: 'x' }), 'page_token'))
    })

    it('fails for another field, another error, and a success', async () => {
      const client = server.as(ADA).client(WidgetService)
      expect(await fails(expectInvalidField(client.getWidget({}), 'name'))).to.match(/names id, not name/)
      expect(await fails(expectInvalidField(client.getWidget({ id: 'none' }), 'id'))).to.match(/NOT_FOUND/)
      expect(await fails(expectInvalidField(client.listWidgets({}), 'filter'))).to.match(/the call succeeded/)
      const blank = Promise.reject(new InvalidArgument('', 'is wrong'))
      expect(await fails(expectInvalidField(blank, 'id'))).to.match(/no BadRequest detail/)
      expect(await fails(expectInvalidField(Promise.reject(new ErrNotFound()), 'id'))).to.match(/NOT_FOUND/)
    })
  })

  describe('captureSql', () => {
    it('has the statements of repositories, transactions and TypeORM, each once', async () => {
      const sql = captureSql(dataSource)
      try {
        const { id } = await withTenant('acme', () => widgets.create({ displayName: 'Dial' }))
        const created = sql.queries.filter(({ text }) => text.startsWith('INSERT INTO'))
        expect(created).to.have.length(1)
        expect(created[0]?.parameters).to.be.above(3)
        sql.clear()
        await withTenant('acme', () => widgets.transaction(() => widgets.get(id)))
        expect(sql.statements[0]?.text).to.match(/^BEGIN/)
        expect(sql.statements.at(-1)?.text).to.equal('COMMIT')
        expect(sql.queries).to.have.length(1)
        sql.clear()
        await dataSource.query('SELECT 1 AS one WHERE 1 = ?', [1])
        expect(sql.statements).to.deep.equal([
          { text: 'SELECT 1 AS one WHERE 1 = ?', parameters: 1, calls: 1 },
        ])
        expect(JSON.stringify(sql.statements)).to.not.include('Dial')
      } finally {
        sql.stop()
      }
    })

    it('keeps values only when asked, for two at once, and ends', async () => {
      const plain = captureSql(dataSource)
      const full = captureSql(dataSource, { values: true })
      const { run } = Object.getPrototypeOf(dataSource) as Record<string, unknown>
      expect(run).to.equal(undefined)
      await withTenant('acme', () => widgets.create({ displayName: 'Ember' }))
      expect(JSON.stringify(full.statements)).to.include('Ember')
      expect(JSON.stringify(plain.statements)).to.not.include('Ember')
      full.stop()
      const seen = full.statements.length
      await withTenant('acme', () => widgets.list())
      plain.stop()
      plain.stop()
      const both = plain.statements.length
      await withTenant('acme', () => widgets.list())
      await dataSource.query('SELECT 1')
      expect([full.statements.length, plain.statements.length]).to.deep.equal([seen, both])
      expect(both).to.be.above(seen)
    })
  })
})

describe('principalHeaders', () => {
  it('says who somebody is, and nothing of what is left out', () => {
    expect(principalHeaders({ tenant: 'acme', subject: 'ada', groups: ['a', 'b'] }).headers).to.deep.equal({
      'account-id': 'acme',
      subject: 'ada',
      groups: 'a,b',
    })
    expect(principalHeaders({}).headers).to.deep.equal({})
  })

  for (const wrong of [{ subject: 'ädä' }, { tenant: 'a\nb' }, { groups: ['a,b'] }, { subject: ' ada' }])
    it(`refuses ${JSON.stringify(wrong)}`, () => {
      expect(() => principalHeaders(wrong)).to.throw(RangeError, 'cannot be sent')
    })
})
