import { expect } from 'chai'
import { Column, type DataSource, Entity, Index, PrimaryColumn, Unique } from 'typeorm'
import { Resource } from '../../../decorators/resource.js'
import { SoftDeletable } from '../../../decorators/soft-deletable.js'
import { TenantScoped } from '../../../decorators/tenant-scoped.js'
import { RequestContext } from '../../../lib/context.js'
import { DeclarationError, InvalidArgument } from '../../../lib/errors.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { tableMigrations } from '../../../lib/persistence/schema/table-migrations.js'
import { databases, describeOn } from '../../support/databases/backends.js'
import { rejection } from '../../support/rejection.js'

/**
 * Two texts of the default length, which MySQL cannot keep in one index beside the tenant and the soft
 * delete.
 */
@Resource()
@Entity('broad_tasks')
@Unique(['projectId', 'title'])
@TenantScoped()
@SoftDeletable()
class BroadTask {
  @PrimaryColumn() id!: string
  @Column() projectId!: string
  @Column() title!: string

  accountId!: string
  deleteTime?: Date
}

/** A text without a length. */
@Resource()
@Entity('articles')
@Index(['body'])
@TenantScoped()
class Article {
  @PrimaryColumn() id!: string
  @Column('text') body!: string

  accountId!: string
}

@Resource({ shared: true })
@Entity('order')
@Unique(['lineCode'])
class Order {
  @PrimaryColumn() id!: string
  @Column() lineCode!: string
}

@Resource({ shared: true })
@Entity('order_line')
@Unique(['code'])
class OrderLine {
  @PrimaryColumn() id!: string
  @Column() code!: string
}

/** The other way to say which index is meant. */
@Resource({ shared: true })
@Entity('order_line')
@Unique('one_code', ['code'])
class NamedLine {
  @PrimaryColumn() id!: string
  @Column() code!: string
}

const SHARED =
  /order and order_line both have an index named order_line_code_key: give one of them another name, as in @Unique\('name', \['property'\]\)/

describe('indexes of several tables', () => {
  it('have names of their own, or no migration is written', () => {
    expect(() => tableMigrations({ Order, OrderLine })).to.throw(DeclarationError, SHARED)
    expect(tableMigrations({ Order, NamedLine })).to.have.length(2)
  })
})

describeOn('indexes that cannot be made', databases, (backend) => {
  const isMysql = backend.name === 'mariadb' || backend.name === 'mysql8'
  const refusals: readonly [typeof BroadTask | typeof Article, RegExp][] = [
    [
      BroadTask,
      /^entities: 1 problem.*\n.* - on (MySQL|MariaDB) broad_tasks_account_id_project_id_title_key of broad_tasks has 4080 bytes and may have 3072: give account_id, project_id, title, soft_delete_key shorter lengths$/,
    ],
    [
      Article,
      /on (MySQL|MariaDB) articles_account_id_body_idx of articles has a column without a length and may have 3072: give account_id, body shorter lengths$/,
    ],
  ]

  it('stop the start where the database does not take keys so long, and no table is made', async () => {
    const { dataSource, database, close } = await backend.open([BroadTask, Article])
    try {
      for (const [entity, text] of refusals) {
        const made = createTables(dataSource as DataSource, [entity], database!.dialect.name)
        const start = async () =>
          (await new (repositoryOf<object>(entity))(dataSource as DataSource).startUpCheck()).problems
        if (!isMysql) {
          await made
          expect(await start()).to.deep.equal([])
          continue
        }
        await rejection(made, DeclarationError, text)
        await rejection(
          start(),
          DeclarationError,
          /has (4080 bytes|a column without a length) and may have 3072/,
        )
      }
    } finally {
      await close()
    }
  })

  it('are not left out because another table has one of the name', async () => {
    const { dataSource, database, close } = await backend.open([])
    try {
      const made = createTables(dataSource as DataSource, [Order, OrderLine], database!.dialect.name)
      await rejection(made, DeclarationError, SHARED)
    } finally {
      await close()
    }
  })
})

describeOn(
  'a value that is too long for an index',
  databases.filter(({ name }) => name === 'postgres'),
  (backend) => {
    it('is InvalidArgument with the field, and says nothing of the table', async () => {
      const { dataSource, close } = await backend.open([Article])
      try {
        await createTables(dataSource as DataSource, [Article], 'postgres')
        const articles = new (repositoryOf(Article))(dataSource!)
        // Of characters that do not repeat: PostgreSQL compresses others.
        const random = (length: number) =>
          String.fromCodePoint(...Array.from({ length }, (_, at) => 0x4e00 + ((at * 7919) % 20_000)))
        await RequestContext.as({ tenant: 'acme', subject: 'ada' }, async () => {
          // Beyond the limit of the index, and beyond a page, of which PostgreSQL does not name the index.
          for (const length of [1500, 3000])
            await rejection(
              articles.create({ body: random(length) }),
              InvalidArgument,
              /^body: is too long for the database to index$/,
            )
        })
      } finally {
        await close()
      }
    })
  },
)
