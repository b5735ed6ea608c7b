import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { pathToFileURL } from 'node:url'
import { HotDataSource, repositoryOf, RequestContext } from '../../../../lib/index.js'

/**
 * A version of a service: the first argument is the module of its `Task`, the second what it writes, in JSON.
 * Each POST creates, reads, changes, lists and deletes. What another version wrote has to be whole here.
 */
type Row = Readonly<Record<string, unknown>>

interface Tasks {
  create(task: Row): Promise<Row & { readonly id: string }>
  get(key: string): Promise<Row>
  update(key: string, task: Row, mask: readonly string[]): Promise<unknown>
  list(query: object): Promise<{ readonly items: readonly Row[] }>
  delete(key: string): Promise<unknown>
}

const [, , module = '', written = '{}'] = process.argv
const { Task } = (await import(pathToFileURL(module).href)) as { readonly Task: new () => object }
const values = JSON.parse(written) as Row
const [first = ''] = Object.keys(values)
const field = first.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const dataSource = await new HotDataSource({
  dsn: process.env.ASHLAR_DATABASE_URL ?? '',
  timezone: 'Z',
  entities: [Task],
}).initialize()
const tasks = new (repositoryOf(Task))(dataSource) as unknown as Tasks

async function use(): Promise<void> {
  const id = randomUUID()
  await tasks.create({ id, ...values })
  await tasks.update(id, { [first]: 'changed' }, [field])
  if ((await tasks.get(id))[first] !== 'changed') throw new Error('the change is lost')
  const { items } = await tasks.list({ pageSize: 20 })
  const torn = items.find((task) => task[first] === '' || task[first] === undefined || task[first] === null)
  if (torn !== undefined) throw new Error(`a task of another version has no ${first}`)
  if (Math.random() < 0.5) await tasks.delete(id)
}

const server = createServer((request, response) => {
  if (request.url === '/readyz') return void response.end('ok')
  const caller = { tenant: 'acme', subject: 'ada' }
  RequestContext.as(caller, use).then(
    () => response.end('done'),
    (error: unknown) => response.writeHead(500).end(String(error)),
  )
}).listen(Number(process.env.PORT), '127.0.0.1')

process.once('SIGTERM', () => {
  server.close(() => void dataSource.destroy().then(() => process.exit()))
  server.closeIdleConnections()
})
