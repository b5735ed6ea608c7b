// Prints how many mebibytes a repository retains after few and after many different filters. Run with
// --expose-gc.
import { RequestContext } from '../../lib/context.js'
import { SqliteDataSource } from '../../lib/persistence/sqlite-data-source.js'
import { TypeormRepository } from '../../lib/persistence/sql/typeorm-repository.js'
import { Widget } from '../../examples/widgets/widget.js'

/** Returns the heap in use after garbage collection, in mebibytes. */
const heapMib = (): number => {
  global.gc?.()
  global.gc?.()
  return process.memoryUsage().heapUsed / 2 ** 20
}

const [few = 10_000, many = 1_000_000] = process.argv.slice(2).map(Number)
const dataSource = await new SqliteDataSource({ database: ':memory:', entities: [Widget] }).initialize()
const widgets = new TypeormRepository(dataSource, Widget)
const principal = { tenant: 'acme', subject: 'bench', groups: [], scopes: [] }
const context = new RequestContext({ principal })

async function serve(from: number, to: number): Promise<number> {
  for (let n = from; n < to; n++) await widgets.list({ filter: filterOf(n), pageSize: 1 }, { context })
  return heapMib()
}

const held = { [few]: await serve(0, few), [many]: await serve(few, many) }
console.log(JSON.stringify(held))
await dataSource.destroy()

/** Returns a filter that is different for each number. Its structure repeats after some thousands. */
function filterOf(n: number): string {
  const terms = [`size >= ${n}`, `price < ${n % 1000}.5`, `display_name = "w${n}"`, `description != "${n}"`]
  const count = 1 + (((n / 10) % 4) | 0)
  const shape = (n / 40) | 0
  const more = Array.from({ length: shape % 25 }, (_, i) =>
    (shape >> (i % 12)) & 1 ? 'size > 1' : 'price > 1',
  )
  return [...terms.slice(0, count), `display_name != "x${n}"`, ...more].join(n % 3 === 0 ? ' OR ' : ' AND ')
}
