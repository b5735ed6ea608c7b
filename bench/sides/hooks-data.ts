import { AfterLoad, BeforeInsert, BeforeUpdate, Column, Entity, PrimaryColumn } from 'typeorm'
import { ETag, Resource, TenantScoped, UpdateTime } from '../../decorators/index.js'
import { RequestContext } from '../../lib/context.js'
import { createTables } from '../../lib/persistence/schema/create-tables.js'
import { SqliteDataSource } from '../../lib/persistence/sqlite-data-source.js'
import { type EntityClass } from '../../lib/resource/resource-model.js'
import { TypeormRepository } from '../../lib/persistence/sql/typeorm-repository.js'
import type { Side } from '../subject.js'

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

/** Creates, updates and reads tasks on SQLite. @param isInside - writes in a `transaction(fn)` each. */
export async function tasksOf(entity: EntityClass<Task>, isInside: boolean): Promise<Side> {
  const dataSource = await new SqliteDataSource({ database: ':memory:', entities: [entity] }).initialize()
  await createTables(dataSource, [entity], 'sqlite')
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
  await tasks.create({ id: 'first', title: 'First', slug: 'first' }, { context })
  return {
    operations: {
      create: () =>
        write((options) =>
          tasks.create({ id: `task-${n++}`, title: `Task ${n}`, slug: `task ${n}` }, options),
        ),
      update: () =>
        write((options) =>
          tasks.update('first', { title: `First ${n++}`, slug: 'first' }, ['title', 'slug'], options),
        ),
      async get() {
        const { id } = await tasks.get('first', { context })
        if (id !== 'first') throw new TypeError(`wrong task ${id}`)
      },
    },
    tearDown: () => dataSource.destroy(),
  }
}
