import { AfterLoad, BeforeInsert, BeforeUpdate, Column, DataSource, Entity, PrimaryColumn } from 'typeorm'
import { ETag, Resource, TenantScoped, UpdateTime } from '../../decorators/index.js'
import { RequestContext } from '../../lib/context.js'
import { createTables } from '../../lib/persistence/schema/create-tables.js'
import { SqliteDataSource } from '../../lib/persistence/sqlite-data-source.js'
import { type EntityClass } from '../../lib/resource/resource-model.js'
import { TypeormRepository } from '../../lib/persistence/sql/typeorm-repository.js'
import type { Side } from '../subject.js'
import { benchUrl, POOL } from './postgres-address.js'
import { fill } from './postgres-data.js'

class Task {
  @PrimaryColumn() id!: string
  @Column() title!: string
  @Column() slug!: string
  @UpdateTime() updateTime!: Date
  @ETag() etag!: string
  accountId!: string
}

@Resource()
@Entity('plain_tasks')
@TenantScoped()
export class PlainTask extends Task {}

@Resource()
@Entity('hooked_tasks')
@TenantScoped()
export class HookedTask extends Task {
  @BeforeInsert() @BeforeUpdate() prepare(): void {
    this.slug = this.title.toLowerCase()
  }
  @AfterLoad() loaded(): void {
    this.slug = this.title.toLowerCase()
  }
}

type Engine = 'sqlite' | 'postgres'

/** Returns the `engine` in the URL of a side. */
export const engineOf = (side: string): Engine =>
  new URL(side).searchParams.get('engine') === 'postgres' ? 'postgres' : 'sqlite'

/** Creates an empty table for the entity. */
async function openTable(entity: EntityClass<Task>, engine: Engine): Promise<DataSource> {
  if (engine === 'sqlite') {
    const dataSource = await new SqliteDataSource({ database: ':memory:', entities: [entity] }).initialize()
    await createTables(dataSource, [entity], 'sqlite')
    return dataSource
  }
  await fill()
  const dataSource = await new DataSource({
    type: 'postgres',
    url: benchUrl(),
    entities: [entity],
    poolSize: POOL,
  }).initialize()
  const { tableName } = dataSource.getMetadata(entity)
  await dataSource.query(`DROP TABLE IF EXISTS ${tableName}`)
  await createTables(dataSource, [entity], 'postgres')
  return dataSource
}

/** More rows than concurrent calls, so that no update waits for another one's row. */
const ROWS = 200

/**
 * Creates, updates and reads tasks.
 * @param isInside - if true, each write runs in its own `transaction(fn)`.
 */
export async function tasksOf(entity: EntityClass<Task>, isInside: boolean, engine: Engine): Promise<Side> {
  const dataSource = await openTable(entity, engine)
  const tasks = new TypeormRepository(dataSource, entity)
  const principal = { tenant: 'acme', subject: 'bench', groups: [], scopes: [] }
  const context = new RequestContext({ principal })
  const write = async (work: (options: { readonly context: RequestContext }) => Promise<Task>) => {
    const { etag } = isInside
      ? await tasks.transaction((inside) => work({ context: inside }), { context })
      : await work({ context })
    if (etag === '') throw new TypeError('nothing was written')
  }
  let n = 0
  for (let row = 0; row < ROWS; row++)
    await tasks.create({ id: `row-${row}`, title: 'First', slug: 'first' }, { context })
  return {
    operations: {
      create: () =>
        write((options) =>
          tasks.create({ id: `task-${n++}`, title: `Task ${n}`, slug: `task ${n}` }, options),
        ),
      update: () =>
        write((options) =>
          tasks.update(
            `row-${n++ % ROWS}`,
            { title: `First ${n}`, slug: 'first' },
            ['title', 'slug'],
            options,
          ),
        ),
      async get() {
        const { id } = await tasks.get(`row-${n++ % ROWS}`, { context })
        if (id === '') throw new TypeError('no task')
      },
    },
    async tearDown() {
      if (engine === 'postgres')
        await dataSource.query(`DROP TABLE ${dataSource.getMetadata(entity).tableName}`)
      await dataSource.destroy()
    },
  }
}
