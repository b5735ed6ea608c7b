// The first create, list and get of each service of a project, over HTTP. Prints the results as JSON.
import { getOption } from '@bufbuild/protobuf'
import { http } from 'ashlar-annotations/google/api/annotations_pb.js'
import { readdirSync } from 'node:fs'
import { ServerBuilder, devAuthorizer, devPrincipal } from 'ashlar'
import { DataSource } from 'typeorm'
import * as entities from './dist/src/entities.js'
import { registerResources } from './dist/src/resources.js'

const REFERENCES = { owner: 'member', author: 'member', parent: undefined }
const dataSource = await new DataSource({
  ...{ type: 'postgres', url: process.env.DATABASE_URL, synchronize: true },
  entities: Object.values(entities).filter((one) => typeof one === 'function'),
}).initialize()
const grants = [{ tenant: '*', subjects: ['*'], verbs: ['*'], resource: '*' }]
const builder = new ServerBuilder({
  ...{ grpcAddr: '127.0.0.1:0', httpAddr: '127.0.0.1:0', allowDevelopment: true },
  principalFunc: devPrincipal,
  authorizer: devAuthorizer(grants),
}).gateway({})
registerResources(builder, dataSource)
const server = builder.build()
const stop = new AbortController()
const served = server.serve(stop.signal)
await Promise.race([server.ready(), served])

const call = async (method, path, body) => {
  const response = await fetch(`http://${server.httpAddr()}${path}`, {
    method,
    headers: { 'content-type': 'application/json', subject: 'ada', 'account-id': 'acme' },
    body: body === undefined ? undefined : JSON.stringify(body),
  })
  const json = await response.json()
  return response.ok ? json : Promise.reject(new Error(json.message))
}

const known = {}
const scalar = (field) => {
  const text = {
    name: 'a',
    id: 'a1',
    currency_id: 'EUR',
    country_id: 'DE',
    on: '2026-01-31',
    amount: '12.50',
  }
  if (field.enum !== undefined) return field.enum.values[1].name
  if (field.message?.typeName === 'google.protobuf.Timestamp') return '2026-01-31T12:00:00Z'
  if (field.message !== undefined) return { a: 1 }
  if (field.scalar === 9) return text[field.name] ?? 'a'
  return field.scalar === 8 ? true : 1
}
const sampleOf = (message) => {
  const sample = {}
  for (const field of message.fields) {
    const reference = /^(.*)_(?:id|code)$/.exec(field.name)?.[1]
    const target = reference && (reference in REFERENCES ? REFERENCES[reference] : reference)
    if (field.name === 'id' || (reference !== undefined && target === undefined)) continue
    if (reference !== undefined) sample[field.name] = known[target] ?? missing(target)
    else sample[field.name] = field.fieldKind === 'list' ? [scalar(field)] : scalar(field)
  }
  return sample
}
const missing = (target) => {
  throw new TypeError(`waits for ${target}`)
}

const results = {}
let left = []
for (const file of readdirSync('dist/src/gen').filter((name) => name.endsWith('_pb.js')))
  for (const service of Object.values(await import(`./dist/src/gen/${file}`)))
    if (service?.kind === 'service') left.push(service)
for (let before = Infinity; left.length < before;) {
  before = left.length
  const waiting = []
  for (const service of left) {
    const methodOf = (verb) => service.methods.find((one) => one.name.startsWith(verb))
    const message = methodOf('Get').output
    const createMethod = methodOf('Create')
    const { name } = message
    const snake = name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase()
    const path = getOption(methodOf('List'), http).pattern.value
    try {
      await call('GET', path)
      if (createMethod === undefined) {
        results[name] = 'no create'
        continue
      }
      const id = createMethod.input.fields.find((field) => field.name === `${snake}_id`)
      const query = id === undefined ? '' : `?${snake}_id=${scalar(id)}`
      const created = await call('POST', path + query, sampleOf(message))
      const key = created[message.fields[0].jsonName]
      known[snake] = key
      await call('GET', `${path}/${key}`)
      results[name] = 'ok'
    } catch (error) {
      if (/^waits for/.test(error.message)) waiting.push(service)
      results[name] = error.message
    }
  }
  left = waiting
  // The application creates what clients cannot.
  if (known.member === undefined && known.organization !== undefined) {
    const member = { email: 'ada@shop.example', passwordHash: 'x', organizationId: known.organization }
    known.member = (await dataSource.getRepository('Member').save(member)).id
    before = Infinity
  }
}
process.stdout.write(JSON.stringify(results))
stop.abort()
await served
await dataSource.destroy()
process.exit(0)
