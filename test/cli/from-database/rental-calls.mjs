// Calls each service of the rental project over HTTP, and reads and writes its tables with TypeORM. Prints the results as JSON.
import { ServerBuilder, devAuthorizer, devPrincipal } from 'ashlar'
import { securityCheck } from 'ashlar/testing'
import { DataSource } from 'typeorm'
import * as entities from './dist/src/entities/index.js'
import { registerResources } from './dist/src/resources.js'

const dataSource = await new DataSource({
  ...{ type: 'postgres', url: process.env.DATABASE_URL, entities: Object.values(entities) },
}).initialize()
const grants = [{ tenant: '*', subjects: ['ada'], verbs: ['*'], resource: '*' }]
const builder = () => {
  const made = new ServerBuilder({
    ...{ grpcAddr: '127.0.0.1:0', httpAddr: '127.0.0.1:0', allowDevelopment: true },
    principalFunc: devPrincipal,
    authorizer: devAuthorizer(grants),
  }).gateway({})
  registerResources(made, dataSource)
  return made
}
const server = builder().build()
const stop = new AbortController()
const served = server.serve(stop.signal)
await Promise.race([server.ready(), served])

const call = async (method, path, body) => {
  const response = await fetch(`http://${server.httpAddr()}/v1/${path}`, {
    method,
    headers: { 'content-type': 'application/json', subject: 'ada', 'account-id': 'acme' },
    body: body === undefined ? undefined : JSON.stringify(body),
  })
  const json = await response.json()
  return response.ok ? json : Promise.reject(new Error(`${method} ${path}: ${json.message}`))
}
const results = {}
// The first create, get and list of a collection.
const made = async (collection, body, id) => {
  const created = await call('POST', `${collection}${id === undefined ? '' : `?${id}`}`, body)
  const key = created.id ?? created.code
  const got = await call('GET', `${collection}/${key}`)
  const { [collection]: items } = await call('GET', collection)
  results[collection] =
    items.some((one) => (one.id ?? one.code) === key) && JSON.stringify(got) === JSON.stringify(created)
  return created
}
const manager = dataSource.manager
await manager.save(entities.Currency, { code: 'EUR', title: 'Euro', digits: 2 })
await manager.save(entities.Account, [
  { id: 'acme', name: 'Acme' },
  { id: 'other', name: 'Other', plan: 'paid' },
])
await manager.save(entities.Country, { code: 'DE', title: 'Germany', currencyCode: 'EUR' })
results.shared = [
  (await call('GET', 'accounts/other')).plan,
  (await call('GET', 'countries')).countries[0].title,
]
const branch = await made('branches', {
  name: 'Mitte',
  countryCode: 'DE',
  openingHours: { mon: '9-18' },
  isOpen: true,
})
const customer = await made('customers', {
  email: 'ada@rental.example',
  fullName: 'Ada',
  bornOn: '1990-12-10',
  phoneNumbers: ['1', '2'],
})
await made('customerNotes', { customerId: customer.id, body: 'prefers mail' })
const category = await made('categories', { title: 'Drills' })
const item = await made('items', {
  branchId: branch.id,
  title: 'Drill',
  dailyPrice: '12.50',
  serialNumbers: [7, 8],
  attributes: { volts: 18 },
  order: 3,
})
const rental = await made('rentals', {
  customerId: customer.id,
  branchId: branch.id,
  status: 'STATUS_PICKED_UP',
  pastStatuses: ['PAST_STATUSES_RESERVED'],
  startsOn: '2026-01-31',
  days: 3,
  version: 1,
})
const invoice = await made('invoices', { rentalId: rental.id, amount: '37.50', state: 'STATE_SENT' })
await made('payments', { invoiceId: invoice.id, amount: '37.50', receivedAt: '2026-02-01T10:00:00Z' })
results.staff = Array.isArray((await call('GET', 'staffs')).staffs)

const read = await manager.findOneOrFail(entities.Rental, {
  where: { id: rental.id },
  relations: { customer: true, branch: true },
})
const readItem = await manager.findOneByOrFail(entities.Item, { id: item.id })
await manager.save(entities.ItemCategory, { itemId: item.id, categoryId: category.id })
await manager.save(entities.RentalItem, {
  rentalId: rental.id,
  itemId: item.id,
  accountId: 'acme',
  quantity: 2,
})
await manager.save(entities.InvoiceLine, {
  accountId: 'acme',
  invoiceId: invoice.id,
  lineNumber: 1,
  label: 'Drill',
  amount: '37.50',
})
const written = await manager.save(entities.Item, {
  accountId: 'acme',
  branchId: branch.id,
  title: 'Saw',
  dailyPrice: '9.00',
  photo: Buffer.from('a'),
})
const gotten = await call('GET', `items/${written.id}`)
const before = customer.updatedAt
const changed = await call('PATCH', `customers/${customer.id}?update_mask=full_name`, { fullName: 'Ada L.' })
await call('DELETE', `customerNotes/${(await call('GET', 'customerNotes')).customerNotes[0].id}`)
results.typeorm = {
  rental: [
    read.accountId,
    read.status,
    read.pastStatuses,
    read.startsOn,
    read.days,
    read.customer.fullName,
    read.branch.name,
  ],
  item: [
    readItem.dailyPrice,
    readItem.weeklyPrice,
    readItem.deposit,
    readItem.serialNumbers,
    readItem.attributes,
    readItem.order,
  ],
}
results.ashlar = [gotten.title, gotten.dailyPrice, gotten.weeklyPrice, gotten.photo]
results.trigger = changed.updatedAt > before
stop.abort()
await served
const { findings, notChecked } = await securityCheck(builder(), {
  ...{ tenants: ['acme', 'other'], as: { subject: 'ada' } },
  requests: {
    '/rental.v1.CountryService/GetCountry': () => ({ id: 'DE' }),
    '/rental.v1.CountryService/ListCountries': () => ({}),
  },
  samples: {
    'rental.v1.Account': () => ({ plan: 'free' }),
    'rental.v1.Customer': (n) => ({ email: `${n}@rental.example`, bornOn: '1990-12-10' }),
    'rental.v1.Invoice': () => ({ amount: '1.00', dueOn: '2026-01-31' }),
    'rental.v1.Item': () => ({ dailyPrice: '1.00', deposit: '1.00' }),
    'rental.v1.Payment': () => ({ amount: '1.00' }),
    'rental.v1.Rental': () => ({ startsOn: '2026-01-31', days: 1, total: '1.00' }),
  },
})
results.security = { findings, notChecked }
await dataSource.destroy()
process.stdout.write(JSON.stringify(results, undefined, 1))
process.exit(0)
