import { IsNull } from 'typeorm'
import type { Side } from '../subject.js'
import { askedOf, BenchTask, openFilled, PAGE, tenants } from './related-data.js'

/** The same pages with `find` of TypeORM's repository, which joins. */
export async function setUp(): Promise<Side> {
  const { engine, isAlone } = askedOf(import.meta.url)
  const { dataSource, close } = await openFilled(engine)
  const tasks = dataSource.getRepository(BenchTask)
  const read = async (accountId: string, ...relations: ('project' | 'assignee' | 'notes')[]) => {
    const items = await tasks.find({
      where: { accountId, deleteTime: IsNull() },
      order: { title: 'ASC', id: 'ASC' },
      take: PAGE + 1,
      ...(!isAlone && { relations: Object.fromEntries(relations.map((relation) => [relation, true])) }),
    })
    const isWhole = relations.every((relation) => (items[0]?.[relation] === undefined) === isAlone)
    if (items.length !== PAGE + 1 || !isWhole) throw new TypeError('not the page')
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
