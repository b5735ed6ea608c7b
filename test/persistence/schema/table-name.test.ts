import { expect } from 'chai'
import { Column, DefaultNamingStrategy, Entity, type EntityOptions, PrimaryColumn } from 'typeorm'
import { Resource } from '../../../decorators/resource.js'
import { Searchable } from '../../../decorators/searchable.js'
import { DeclarationError, ErrNotFound } from '../../../lib/errors.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import type { DialectName } from '../../../lib/persistence/dialects/dialect.js'
import { quoteTable } from '../../../lib/persistence/dialects/quote-table.js'
import { tableNameOf } from '../../../lib/persistence/schema/table-name-of.js'
import { TypeormRepository } from '../../../lib/persistence/sql/typeorm-repository.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import { collated } from '../../conformance/repository/open-subject.js'
import { inAcme } from '../../conformance/repository/subject.js'
import {
  type Backend,
  databases,
  describeOn,
  type NamingOptions,
  type OpenBackend,
} from '../../support/databases/backends.js'
import { testDatabase } from '../../support/databases/test-database.js'
import { EVERYWHERE, IGNORED, ON_POSTGRES, type Thing, thingOf } from './table-cases.js'
import { dialectNamed } from '../../../lib/persistence/dialects/dialect-named.js'

const isMysql = ({ name }: Backend) => name === 'mariadb' || name === 'mysql8'

describeOn('a table', databases, (backend) => {
  const dialect: DialectName =
    backend.name === 'postgres'
      ? 'postgres'
      : isMysql(backend)
        ? backend.name === 'mysql8'
          ? 'mysql'
          : 'mariadb'
        : 'sqlite'

  let open: OpenBackend | undefined
  afterEach(async () => {
    await open?.close()
    open = undefined
  })

  const opened = async (entity: ReturnType<typeof thingOf>, naming?: NamingOptions) => {
    open = await backend.open([entity], naming)
    const { dataSource } = open
    if (dataSource === undefined) throw new TypeError('a database without a DataSource')
    await createTables(collated(dataSource, backend), [entity], dialect)
    return { dataSource, things: new TypeormRepository<Thing>(dataSource, entity) }
  }

  const cases = [...EVERYWHERE, ...(backend.name === 'postgres' ? ON_POSTGRES : IGNORED)]
  for (const { what, entity: options, naming, path } of cases)
    it(`is TypeORM's by ${what}`, async () => {
      const entity = thingOf(options)
      const { dataSource, things } = await opened(entity, naming)
      expect(dataSource.getMetadata(entity).tablePath).to.equal(path)
      const { namingStrategy, ...named } = naming ?? {}
      const uninitialized = { options: named, ...(namingStrategy && { namingStrategy }) }
      const model = resourceModel(entity)
      expect(tableNameOf(model, dialectNamed(dialect), uninitialized)).to.deep.equal(
        tableNameOf(model, dialectNamed(dialect), dataSource),
      )
      const theirs = dataSource.getRepository(entity)
      await inAcme(() => agree(things, theirs))
    })

  const dotted = async (options: EntityOptions, naming?: NamingOptions) => {
    const { dataSource, things } = await opened(thingOf(options), naming)
    await inAcme(() => things.create({ id: 'a', title: 'ours', size: 1 }))
    return dataSource.query<unknown>(
      `SELECT title FROM ${quoteTable({ schema: 'my.schema', name: 'things' }, dialectNamed(dialect))}`,
    )
  }

  if (backend.name === 'postgres') {
    it('is in a schema with a dot, which TypeORM itself cannot name', async () => {
      expect(await dotted({ schema: 'my.schema', name: 'things' })).to.deep.equal([{ title: 'ours' }])
      await open?.close()
      expect(await dotted({ name: 'things' }, { schema: 'my.schema' })).to.deep.equal([{ title: 'ours' }])
    })

    it('is refused in another database, which the connection cannot reach', async () => {
      open = await backend.open([thingOf()])
      const elsewhere = thingOf({ database: 'elsewhere' })
      expect(() => new TypeormRepository(open?.dataSource as never, elsewhere)).to.throw(
        DeclarationError,
        /@Entity\(\{ database: "elsewhere" \}\): a PostgreSQL connection only reaches its own database/,
      )
    })

    it('is held to exact comparison where it really is', async () => {
      const entity = thingOf({ schema: 'inventory', name: 'things' })
      const { dataSource, things } = await opened(entity)
      await createTables(dataSource, [thingOf({ name: 'things' })], dialect)
      await dataSource.query('CREATE EXTENSION citext')
      await dataSource.query('ALTER TABLE inventory.things ALTER COLUMN account_id TYPE citext')
      const error = await inAcme(() => things.get('a')).catch((reason: unknown) => reason)
      expect(error).to.be.instanceOf(DeclarationError)
      expect(String(error)).to.include('account_id has the type citext')
    })

    it('keeps apart what two schemas call alike', async () => {
      const [one, two] = [
        thingOf({ schema: 'one', name: 'things' }),
        thingOf({ schema: 'two', name: 'things' }),
      ]
      open = await backend.open([one, two])
      await createTables(open.dataSource!, [one, two], dialect)
      const [ones, twos] = [one, two].map((entity) => new TypeormRepository<Thing>(open!.dataSource!, entity))
      await inAcme(async () => {
        await ones!.create({ id: 'a', title: 'in one', size: 1 })
        await twos!.create({ id: 'a', title: 'in two', size: 1 })
        await ones!.transaction(() => ones!.delete('a'))
        await rejectsNotFound(ones!.get('a'))
        expect((await twos!.list({ search: 'two' })).items).to.have.lengthOf(1)
      })
    })
  }

  if (isMysql(backend))
    it("is in another database where @Entity says so, and TypeORM's too", async () => {
      const { url, drop } = await testDatabase('mysql')
      try {
        const database = new URL(url).pathname.slice(1)
        const entity = thingOf({ database, schema: 'ignored', name: 'things' })
        const { dataSource, things } = await opened(entity, { entityPrefix: 'p_' })
        expect(dataSource.getMetadata(entity).tablePath).to.equal(`${database}.p_things`)
        await inAcme(() => agree(things, dataSource.getRepository(entity)))
      } finally {
        await drop()
      }
    })

  if (isMysql(backend))
    it('is held to exact comparison where it really is', async () => {
      const { url, drop } = await testDatabase('mysql')
      try {
        const database = new URL(url).pathname.slice(1)
        const { dataSource, things } = await opened(thingOf({ database, name: 'things' }))
        await dataSource.query(
          `ALTER TABLE ${database}.things MODIFY account_id varchar(191) COLLATE utf8mb4_general_ci`,
        )
        const error = await inAcme(() => things.get('a')).catch((reason: unknown) => reason)
        expect(error).to.be.instanceOf(DeclarationError)
        expect(String(error)).to.include('has the collation utf8mb4_general_ci')
      } finally {
        await drop()
      }
    })

  if (isMysql(backend))
    it('is in another database by a name of two parts', async () => {
      const { url, drop } = await testDatabase('mysql')
      try {
        const path = `${new URL(url).pathname.slice(1)}.things`
        const entity = thingOf({ name: path })
        const { dataSource, things } = await opened(entity)
        expect(dataSource.getMetadata(entity).tablePath).to.equal(path)
        await inAcme(() => agree(things, dataSource.getRepository(entity)))
      } finally {
        await drop()
      }
    })

  if (dialect === 'sqlite') {
    it('is refused in another database, and as a path', async () => {
      open = await backend.open([thingOf()])
      for (const [options, why] of [
        [{ database: 'elsewhere.db' }, /a SQLite connection only reaches its own database/],
        [
          { name: 'inventory.things' },
          /TypeORM reads the dots in the table name inventory\.things as a path/,
        ],
      ] as const)
        expect(() => new TypeormRepository(open?.dataSource as never, thingOf(options))).to.throw(
          DeclarationError,
          why,
        )
    })
  }

  if (backend.name !== 'postgres')
    it('is refused to two entities that only their schemas tell apart', async () => {
      const [one, two] = [
        thingOf({ schema: 'one', name: 'things' }),
        thingOf({ schema: 'two', name: 'things' }),
      ]
      const starting = backend.open([one, two])
      const fails = starting.then((started) => {
        open = started
        return new TypeormRepository(started.dataSource!, one)
      })
      const error = await fails.then(
        () => undefined,
        (reason: unknown) => reason,
      )
      expect(error).to.be.instanceOf(DeclarationError)
      expect(String(error)).to.match(
        /shares the table things with HTTPThing2, because TypeORM ignores the schema/,
      )
    })

  it('is refused by a name that TypeORM takes apart', async () => {
    open = await backend.open([thingOf()])
    for (const name of ['a.b.c', '.a', 'a.', '.'])
      expect(() => new TypeormRepository(open?.dataSource as never, thingOf({ name }))).to.throw(
        DeclarationError,
        `TypeORM reads the dots in the table name ${name}`,
      )
  })

  it('is refused where a naming strategy renames its columns', async () => {
    class Shouting extends DefaultNamingStrategy {
      override columnName(property: string, custom: string) {
        return (custom || property).toUpperCase()
      }
    }
    const error = await opened(thingOf(), { namingStrategy: new Shouting() }).then(
      () => undefined,
      (reason: unknown) => reason,
    )
    expect(error).to.be.instanceOf(DeclarationError)
    expect(String(error)).to.match(
      /title is stored in title, but the DataSource's naming strategy calls it TITLE/,
    )
  })
})

describe('a table of an entity that extends another', () => {
  @Resource({ shared: true })
  @Entity('parents')
  class Parent {
    @PrimaryColumn() id!: string
    @Column() title!: string
  }

  @Resource({ shared: true })
  @Entity('children')
  class Child extends Parent {}

  it('is its own', () => {
    const names = [Parent, Child].map(
      (entity) => tableNameOf(resourceModel(entity), dialectNamed('postgres')).name,
    )
    expect(names).to.deep.equal(['parents', 'children'])
  })
})

describe('raw SQL of a search', () => {
  @Resource({ shared: true })
  @Entity('things')
  @Searchable({ sources: [{ sql: { postgres: 'app_things::text' } }] })
  class Leaking {
    @PrimaryColumn() id!: string
  }

  it('names the row of no table, whatever the DataSource calls it', () => {
    const model = resourceModel(Leaking)
    expect(tableNameOf(model, dialectNamed('postgres')).name).to.equal('things')
    expect(() =>
      tableNameOf(model, dialectNamed('postgres'), { options: { entityPrefix: 'app_' } }),
    ).to.throw(DeclarationError, /names the table app_things, which means the whole row/)
  })
})

/** What either of the two writes, the other one reads, by every operation. */
async function agree(
  ours: TypeormRepository<Thing>,
  theirs: {
    findOneByOrFail(where: object): Promise<Thing>
    insert(thing: object): Promise<unknown>
    count(): Promise<number>
  },
): Promise<void> {
  await ours.create({ id: 'a', title: 'ours', size: 1 })
  expect(await theirs.findOneByOrFail({ id: 'a' })).to.include({ accountId: 'acme', title: 'ours', size: 1 })
  await theirs.insert({ id: 'b', accountId: 'acme', title: 'theirs', size: 2 })
  expect(await ours.get('b')).to.include({ title: 'theirs', size: 2 })
  await ours.update('b', { size: 3 }, ['size'])
  await ours.batchUpdate([
    { key: 'a', entity: { size: 5 }, fieldMask: ['size'] },
    { key: 'b', entity: { size: 4 }, fieldMask: ['size'] },
  ])
  expect(await theirs.findOneByOrFail({ id: 'b' })).to.include({ size: 4 })
  const { items } = await ours.list({ filter: 'size > 3', orderBy: 'size desc', search: 'ours' })
  expect(items.map(({ id }) => id)).to.deep.equal(['a'])
  expect(await ours.batchGet(['b', 'a'])).to.have.lengthOf(2)
  await ours.delete('a')
  await ours.undelete('a')
  await ours.batchDelete(['a'])
  await rejectsNotFound(ours.get('a'))
  expect(await ours.purgeExpired(new Date(Date.now() + 86_400_000 + 1000))).to.equal(1)
  expect(await theirs.count()).to.equal(1)
}

const rejectsNotFound = async (getting: Promise<unknown>) => {
  const error = await getting.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).to.be.instanceOf(ErrNotFound)
}
