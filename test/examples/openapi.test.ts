import { expect } from 'chai'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DataSource } from 'typeorm'
import { Book } from '../../examples/library/book.js'
import { Shelf } from '../../examples/library/shelf.js'
import { libraryDataSource, libraryServer } from '../../examples/library/main.js'
import { ordersDataSource } from '../../examples/orders/data-source.js'
import { orderServer } from '../../examples/orders/main.js'
import { widgetsDataSource } from '../../examples/widgets/data-source.js'
import { widgetServer } from '../../examples/widgets/main.js'
import { httpRulesOf } from '../../lib/resource/messages/http-paths.js'
import { createTables } from '../../lib/persistence/schema/create-tables.js'
import { SqliteDataSource } from '../../lib/persistence/sqlite-data-source.js'
import type { Server } from '../../lib/server/server.js'
import { Described, type JsonValue } from '../support/openapi/described.js'
import { DescribedClient, type Sent } from '../support/openapi/described-client.js'
import { findings } from '../support/openapi/findings.js'
import { recordingLogger } from '../support/servers/server.js'

const ADDRESSES = { grpcAddr: '127.0.0.1:0', httpAddr: '127.0.0.1:0' }
const ADA = { 'account-id': 'acme', subject: 'ada', groups: 'staff,managers,warehouse' }

const OLD = { 'if-match': '"old"' }

describe('the OpenAPI document of an example', function () {
  let server: Server
  let client: DescribedClient
  let text: string
  let stop: () => Promise<void>
  let folder: string
  let dataSource: DataSource
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ashlar-openapi-'))
  })
  const inFile = (open: (file: string) => DataSource): DataSource =>
    (dataSource = open(join(folder, 'database.sqlite')))

  const start = async (made: Promise<Server>): Promise<void> => {
    server = await made
    const controller = new AbortController()
    const served = server.serve(controller.signal)
    await Promise.race([server.ready(), served])
    stop = () => {
      controller.abort()
      return served
    }
    const origin = `http://${server.httpAddr()}`
    text = await (await fetch(`${origin}/openapi.json`)).text()
    client = new DescribedClient(new Described(text), origin, ADA)
  }
  afterEach(async () => {
    await stop()
    await dataSource.destroy()
    rmSync(folder, { recursive: true, force: true })
  })

  /** @param bodies - for operations whose example is not a request that can be carried out. */
  const provokeAll = async (bodies: Readonly<Record<string, JsonValue>> = {}): Promise<void> => {
    for (const operation of client.described.operations) {
      const { operationId } = operation
      await client.provoke(operation, bodies[operationId.slice(operationId.lastIndexOf('.') + 1)])
    }
  }

  /** Calls that are told 409, because another process writes to the database, and does not come to an end. */
  const callBesideWriter = async (calls: Readonly<Record<string, Sent>>): Promise<void> => {
    const other = await new SqliteDataSource({ database: join(folder, 'database.sqlite') }).initialize()
    await dataSource.query('PRAGMA busy_timeout = 5')
    await other.transaction(async (writer) => {
      await writer.query('CREATE TABLE taken (id INTEGER)')
      for (const [id, sent] of Object.entries(calls)) await client.call(id, 409, sent)
    })
    await other.destroy()
  }

  /** Every rule of every service is an operation, with the id of its method. */
  const expectEveryRoute = (): void => {
    const ids = [...server.services().keys()].flatMap(({ typeName, methods }) =>
      methods.flatMap((method) =>
        httpRulesOf(method).map((_, index) => `${typeName}.${method.name}${index === 0 ? '' : `_${index}`}`),
      ),
    )
    expect(client.described.operations.map(({ operationId }) => operationId).sort()).to.deep.equal(ids.sort())
  }

  it('is what the widgets do: every operation, with success and errors', async () => {
    await start(
      widgetServer({ ...ADDRESSES, database: inFile(widgetsDataSource), logger: recordingLogger() }),
    )
    expect(await findings(text)).to.deep.equal([])
    expectEveryRoute()
    const call = client.call.bind(client)
    const body = { displayName: 'Cog', size: 3, price: 1.5, state: 'ACTIVE', tags: { color: 'red' } }
    const made = await call('CreateWidget', 200, { body, query: 'widget_id=cog' })
    await call('CreateWidget', 409, { body, query: 'widget_id=cog' })
    const path = { id: 'cog' }
    const tag = { 'if-none-match': made.headers.get('etag') ?? '' }
    await call('GetWidget', 200, { path })
    await call('GetWidget', 200, { path, query: 'read_mask=id,size' })
    await call('GetWidget', 304, { path, headers: tag })
    await call('GetWidget', 412, { path, headers: OLD })
    await call('ListWidgets', 200, {
      query: 'page_size=1&filter=size>1&order_by=size desc&show_deleted=true',
    })
    await call('ListWidgets', 200, { query: 'read_mask=displayName' })
    await call('UpdateWidget', 200, { path, query: 'update_mask=size&update_mask=tags', body: { size: 4 } })
    await call('UpdateWidget', 412, { path, query: 'update_mask=size', body: {}, headers: OLD })
    await call('UpdateWidget', 400, { path, body: {} })
    await call('BatchGetWidgets', 200, { query: 'ids=cog' })
    await call('BatchGetWidgets', 404, { query: 'ids=nobody' })
    const requests = [{ widget: { id: 'cog', size: 5 }, updateMask: ['size'] }]
    await call('BatchUpdateWidgets', 200, { body: { requests } })
    await call('BatchUpdateWidgets', 404, {
      body: { requests: [{ widget: { id: 'nobody' }, updateMask: ['*'] }] },
    })
    await call('RetireWidget', 200, { path })
    await call('DeleteWidget', 412, { path, headers: OLD })
    await call('DeleteWidget', 200, { path })
    await call('UndeleteWidget', 412, { path, body: { etag: 'old' } })
    await call('UndeleteWidget', 200, { path, body: {} })
    await call('BatchDeleteWidgets', 200, { body: { ids: ['cog'] } })
    await call('BatchDeleteWidgets', 404, { body: { ids: ['nobody'] } })
    await provokeAll()
    const free = { path: { id: 'free' } }
    await call('CreateWidget', 200, { body, query: 'widget_id=free' })
    await call('CreateWidget', 200, { body, query: 'widget_id=gone' })
    await call('DeleteWidget', 200, { path: { id: 'gone' } })
    await callBesideWriter({
      UpdateWidget: { ...free, query: 'update_mask=size', body: { size: 9 } },
      RetireWidget: free,
      BatchUpdateWidgets: { body: { requests: [{ widget: { id: 'free', size: 5 }, updateMask: ['size'] }] } },
      BatchDeleteWidgets: { body: { ids: ['free'] } },
      DeleteWidget: free,
      UndeleteWidget: { path: { id: 'gone' }, body: {} },
    })
    expect(client.missing()).to.deep.equal([])
  })

  it('is what the orders do: every operation, with success and errors', async () => {
    await start(
      orderServer({
        ...ADDRESSES,
        database: inFile(ordersDataSource),
        logger: recordingLogger(),
        mail: () => {},
      }),
    )
    expect(await findings(text)).to.deep.equal([])
    expectEveryRoute()
    const call = client.call.bind(client)
    const ada = { displayName: 'Ada', email: 'ada@example.com' }
    const customer = await call('CreateCustomer', 200, { body: ada, query: 'customer_id=ada' })
    await call('CreateCustomer', 409, { body: ada })
    await call('CreateCustomer', 200, {
      body: { displayName: 'Bob', email: 'bob@example.com' },
      query: 'customer_id=bob',
    })
    await call('CreateCustomer', 400, { body: { displayName: 'Eve', email: 'nowhere' } })
    await call('GetCustomer', 200, { path: { id: 'ada' } })
    await call('GetCustomer', 304, {
      path: { id: 'ada' },
      headers: { 'if-none-match': customer.headers.get('etag') ?? '' },
    })
    await call('GetCustomer', 412, { path: { id: 'ada' }, headers: OLD })
    await call('ListCustomers', 200)
    await call('UpdateCustomer', 200, {
      path: { id: 'ada' },
      query: 'update_mask=display_name',
      body: { displayName: 'A' },
    })
    await call('UpdateCustomer', 409, {
      path: { id: 'ada' },
      query: 'update_mask=email',
      body: { email: 'bob@example.com' },
    })
    await call('UpdateCustomer', 412, {
      path: { id: 'ada' },
      query: 'update_mask=email',
      body: ada,
      headers: OLD,
    })
    await call('CreateProduct', 200, {
      body: { displayName: 'Cog', priceCents: '250', stock: 2 },
      query: 'product_id=cog',
    })
    await call('CreateProduct', 409, { body: { displayName: 'Cog' }, query: 'product_id=cog' })
    const cog = { path: { id: 'cog' } }
    const product = await call('GetProduct', 200, cog)
    expect(product.body).to.include({ priceCents: '250', stock: 2 })
    await call('GetProduct', 304, { ...cog, headers: { 'if-none-match': product.headers.get('etag') ?? '' } })
    await call('GetProduct', 412, { ...cog, headers: OLD })
    await call('ListProducts', 200, { query: 'filter=price_cents>1' })
    await call('UpdateProduct', 200, { ...cog, query: 'update_mask=price_cents', body: { priceCents: 300 } })
    await call('UpdateProduct', 412, { ...cog, query: 'update_mask=price_cents', body: {}, headers: OLD })
    await call('RestockProduct', 200, { ...cog, body: { quantity: 10 } })
    await call('RestockProduct', 400, { ...cog, body: {} })
    const lines = [{ productId: 'cog', quantity: 2 }]
    const placed = await call('PlaceOrder', 200, { body: { customerId: 'ada', lines } })
    const order = { path: { id: String(placed.body['id']) } }
    await call('PlaceOrder', 400, {
      body: { customerId: 'ada', lines: [{ productId: 'cog', quantity: 99 }] },
    })
    const got = await call('GetOrder', 200, order)
    await call('GetOrder', 304, { ...order, headers: { 'if-none-match': got.headers.get('etag') ?? '' } })
    await call('GetOrder', 412, { ...order, headers: OLD })
    await call('ListOrders', 200)
    await call('ListOrderLines', 200, { path: { order_id: String(placed.body['id']) } })
    await call('ListOrderLines', 200, { path: { order_id: 'nobody' } })
    await call('UpdateOrder', 200, { ...order, query: 'update_mask=note', body: { note: 'soon' } })
    await call('UpdateOrder', 412, { ...order, query: 'update_mask=note', body: { note: '' }, headers: OLD })
    await call('UpdateOrder', 400, { ...order, query: 'update_mask=note', body: { note: 'x'.repeat(201) } })
    const large = await call('PlaceOrder', 200, {
      body: { customerId: 'ada', lines: [{ productId: 'cog', quantity: 9 }] },
    })
    const approvable = { path: { id: String(large.body['id']) } }
    await call('RestockProduct', 200, { ...cog, body: { quantity: 1000 } })
    const huge = await call('PlaceOrder', 200, {
      body: { customerId: 'ada', lines: [{ productId: 'cog', quantity: 900 }] },
    })
    await call('ApproveOrder', 200, { path: { id: String(huge.body['id']) }, headers: { subject: 'bob' } })
    await call('CancelOrder', 200, approvable)
    await call('DeleteOrder', 412, { ...approvable, headers: OLD })
    await call('DeleteOrder', 200, approvable)
    await call('DeleteCustomer', 412, { path: { id: 'bob' }, headers: OLD })
    await call('DeleteCustomer', 200, { path: { id: 'bob' } })
    await provokeAll()
    const small = { body: { customerId: 'ada', lines: [{ productId: 'cog', quantity: 1 }] } }
    const open = { path: { id: String((await call('PlaceOrder', 200, small)).body['id']) } }
    const waiting = await call('PlaceOrder', 200, {
      body: { customerId: 'ada', lines: [{ productId: 'cog', quantity: 90 }] },
    })
    await callBesideWriter({
      DeleteCustomer: { path: { id: 'ada' } },
      UpdateProduct: { ...cog, query: 'update_mask=price_cents', body: { priceCents: 1 } },
      RestockProduct: { ...cog, body: { quantity: 1 } },
      PlaceOrder: small,
      UpdateOrder: { ...open, query: 'update_mask=note', body: { note: 'later' } },
      ApproveOrder: { path: { id: String(waiting.body['id']) }, headers: { subject: 'bob' } },
      CancelOrder: open,
      DeleteOrder: open,
    })
    expect(client.missing()).to.deep.equal([])
  })

  it('is what the library does: every operation, with success and errors', async () => {
    inFile(libraryDataSource)
    await dataSource.initialize()
    await createTables(dataSource, [Shelf, Book], 'sqlite')
    await start(Promise.resolve(libraryServer({ ...ADDRESSES, dataSource, logger: recordingLogger() })))
    expect(await findings(text)).to.deep.equal([])
    expectEveryRoute()
    const call = client.call.bind(client)
    for (const shelf of ['tales', 'maps', 'empty'])
      await call('CreateShelf', 200, { body: { theme: shelf }, query: `shelf_id=${shelf}` })
    await call('CreateShelf', 409, { body: { theme: 'again' }, query: 'shelf_id=maps' })
    const maps = { path: { shelf: 'maps' } }
    const book = { path: { shelf: 'maps', book: 'rome' } }
    const other = { otherShelf: 'shelves/tales' }
    expect((await call('GetShelf', 200, maps)).body).to.deep.equal({ name: 'shelves/maps', theme: 'maps' })
    await call('GetShelf', 412, { ...maps, headers: OLD })
    await call('DeleteShelf', 412, { ...maps, headers: OLD })
    await call('ListShelves', 200, { query: 'page_size=1' })
    const rome = { ...maps, query: 'book_id=rome', body: { title: 'Rome', author: 'A.' } }
    const made = await call('CreateBook', 200, rome)
    expect(made.body).to.include({ name: 'shelves/maps/books/rome', title: 'Rome' })
    await call('CreateBook', 409, rome)
    await call('CreateBook', 400, { ...maps, body: { author: 'B.' } })
    await call('GetBook', 200, book)
    await call('GetBook', 304, { ...book, headers: { 'if-none-match': made.headers.get('etag') ?? '' } })
    await call('GetBook', 412, { ...book, headers: OLD })
    await call('ListBooks', 200, { ...maps, query: 'filter=read=false&order_by=title' })
    await call('ListBooks', 200, { path: { shelf: '-' } })
    await call('BatchGetBooks', 200, { ...maps, query: 'names=shelves/maps/books/rome' })
    await call('BatchGetBooks', 404, { ...maps, query: 'names=shelves/maps/books/none' })
    await call('UpdateBook', 200, { ...book, query: 'update_mask=read', body: { read: true } })
    await call('UpdateBook', 412, { ...book, query: 'update_mask=read', body: {}, headers: OLD })
    await call('DeleteBook', 412, { ...book, headers: OLD })
    await call('MoveBook', 200, { ...book, body: { otherShelfName: 'shelves/tales' } })
    const moved = { path: { shelf: 'tales', book: 'rome' } }
    await call('DeleteShelf', 400, { path: { shelf: 'tales' } })
    await call('MergeShelves', 200, { ...maps, body: other })
    await call('MergeShelves', 404, { ...maps, body: other })
    await call('GetBook', 404, moved)
    await call('DeleteBook', 200, book)
    await call('DeleteShelf', 200, { path: { shelf: 'empty' } })
    await provokeAll({ MergeShelves: other, MoveBook: { otherShelfName: 'shelves/maps' } })
    await call('CreateBook', 200, rome)
    await call('CreateShelf', 200, { body: { theme: 'tales' }, query: 'shelf_id=tales' })
    await callBesideWriter({
      UpdateBook: { ...book, query: 'update_mask=read', body: { read: true } },
      MoveBook: { ...book, body: { otherShelfName: 'shelves/tales' } },
      DeleteBook: book,
      MergeShelves: { ...maps, body: other },
      DeleteShelf: { path: { shelf: 'tales' } },
    })
    expect(client.missing()).to.deep.equal([])
  })
})
