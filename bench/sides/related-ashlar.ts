import { TypeormRepository } from '../../lib/persistence/sql/typeorm-repository.js'
import type { Side } from '../subject.js'
import { askedOf, BenchTask, contextOf, openFilled, PAGE, tenants } from './related-data.js'

/**
 * Reads pages of tasks through a repository. `?engine=` selects the database; `?relations=none` omits the
 * relations.
 */
export async function setUp(): Promise<Side> {
  const { engine, isAlone } = askedOf(import.meta.url)
  const { dataSource, close } = await openFilled(engine)
  const tasks = new TypeormRepository(dataSource, BenchTask)
  const list = { orderBy: 'title', pageSize: PAGE }
  const read = async (tenant: string, ...relations: ('project' | 'assignee' | 'notes')[]) => {
    const options = { context: contextOf(tenant) }
    const asked = isAlone ? list : { ...list, with: relations }
    const { items, nextPageToken } = await tasks.list(asked, options)
    const [first] = items as Partial<BenchTask>[]
    const isWhole = relations.every((relation) => (first?.[relation] === undefined) === isAlone)
    if (items.length !== PAGE || nextPageToken === '' || !isWhole) throw new TypeError('not the page')
  }
  const few = tenants('few')
  const many = tenants('many')
  const children = tenants('few')
  return {
    operations: {
      'few targets': () => read(few(), 'project', 'assignee'),
      'a target each': () => read(many(), 'project', 'assignee'),
      children: () => read(children(), 'notes'),
    },
    tearDown: close,
  }
}
