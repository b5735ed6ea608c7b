import { expect } from 'chai'
import { type DataSource, DefaultNamingStrategy } from 'typeorm'
import { ErrConflict } from '../../../lib/errors.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { TypeormRepository } from '../../../lib/persistence/sql/typeorm-repository.js'
import { type EntityClass, resourceModel } from '../../../lib/resource/resource-model.js'
import { type Backend, databases, describeOn, type OpenBackend } from '../../support/databases/backends.js'
import { rejection } from '../../support/rejection.js'
import { inAcme } from '../repository/subject.js'
import { type Order, type Shop, shopOf } from './shop.js'

/** As typeorm-naming-strategies has it, where every name is prefixed. */
class Prefixed extends DefaultNamingStrategy {
  override tableName(name: string, custom?: string) {
    return custom ?? `t_${name}`
  }
  override columnName(property: string, custom: string | undefined, prefixes: string[]) {
    return super.columnName(custom ? custom : `c_${property}`, '', prefixes)
  }
  override joinColumnName(relation: string, referenced: string) {
    return `j_${relation}_${referenced}`
  }
}

const NAMINGS = { typeorm: undefined, 'a strategy': new Prefixed() } as const

describeOn('a table of TypeORM and of a resource', databases, (backend) => {
  for (const [name, strategy] of Object.entries(NAMINGS))
    describe(`whose columns are named by ${name}`, () => {
      const opened: OpenBackend[] = []
      afterEach(async () => {
        for (const one of opened.splice(0)) await one.close()
      })
      const open = async (shop: Shop): Promise<DataSource> => {
        const one = await backend.open(Object.values(shop), { ...(strategy && { namingStrategy: strategy }) })
        opened.push(one)
        return one.dataSource!
      }
      const resources = () => shopOf(strategy ?? 'typeorm')

      it('is in the metadata of TypeORM as it was before', async () => {
        const [before, after] = [await open(shopOf(undefined)), await open(resources())]
        expect(metadataOf(after)).to.deep.equal(metadataOf(before))
      })

      it("returns to TypeORM's manager what it returned before", async () => {
        const before = await open(shopOf(undefined))
        await before.synchronize()
        const [shop, unchanged] = [resources(), await oldQueries(before, shopNow(before))]
        const after = await open(shop)
        await makeTables(after, shop, backend)
        expect(await oldQueries(after, shop)).to.deep.equal(unchanged)
      })

      it('has rows of both', async () => {
        const shop = resources()
        const after = await open(shop)
        await makeTables(after, shop, backend)
        await inAcme(async () => {
          const customers = new TypeormRepository(after, shop.Customer)
          const orders = new TypeormRepository(after, shop.Order)
          const ada = await customers.create({ displayName: 'Ada', creditLimit: 7, isActive: true })
          expect(ada.id).to.match(/^[0-9a-f-]{36}$/)
          const order = { id: 'o1', orderNumber: 'N1', total: 3, weight: 900719925474099n, customer: ada }
          await orders.create(order)
          const conflict = await rejection(orders.create({ ...order, id: 'o2' }), ErrConflict)
          expect((conflict as ErrConflict).fields).to.deep.equal(['order_number'])
          const theirs = await after.getRepository(shop.Visit).save({ pageUrl: '/', customer: ada })
          const found = await after
            .getRepository(shop.Order)
            .findOneOrFail({ where: { customer: { id: ada.id } }, relations: { customer: true } })
          expect(found).to.include({ orderNumber: 'N1', accountId: 'acme' })
          expect(String(found.weight)).to.equal('900719925474099')
          expect(found.customer).to.include({ displayName: 'Ada', creditLimit: 7 })
          await after.getRepository(shop.Order).update('o1', { orderNumber: 'N9' })
          const listed = await orders.list(
            {
              filter: 'customer.display_name = "Ada" AND order_number > "N1"',
              orderBy: 'order_number desc',
              ...({ with: ['customer'] } as object),
            },
            { through: ['customer'] },
          )
          expect(listed.items.map((one) => (one as Order).customer?.displayName)).to.deep.equal(['Ada'])
          await after.getRepository(shop.Visit).delete(theirs.id)
          await customers.delete(ada.id)
          expect(await orders.count()).to.equal(0)
        })
      })
    })
})

/** The classes of a DataSource, for the manager. */
const shopNow = ({ entityMetadatas }: DataSource): Shop => {
  const named = (name: string) => entityMetadatas.find((one) => one.targetName === name)?.target as never
  return {
    Customer: named('ShopCustomer'),
    Order: named('ShopOrder'),
    Warehouse: named('ShopWarehouse'),
    Visit: named('ShopVisit'),
  }
}

/** Everything of the metadata that a query or a schema is made of. */
const metadataOf = ({ entityMetadatas }: DataSource) =>
  entityMetadatas.map((entity) => ({
    path: entity.tablePath,
    primary: entity.primaryColumns.map(({ databaseName }) => databaseName),
    columns: entity.columns.map((column) => [
      ...[column.propertyName, column.databaseName, column.type, column.length, column.isNullable],
      ...[column.isPrimary, column.generationStrategy, column.default, column.transformer, column.precision],
    ]),
    relations: entity.relations.map(({ propertyName, joinColumns, onDelete }) => [
      propertyName,
      onDelete,
      ...joinColumns.map(
        (column) => `${column.databaseName} → ${column.referencedColumn?.databaseName ?? ''}`,
      ),
    ]),
    keys: entity.foreignKeys.map(({ name, columnNames }) => [name, ...columnNames]),
    indexes: [...entity.indices, ...entity.uniques].map(({ name, columns }) => [
      name,
      ...columns.map(({ databaseName }) => databaseName),
    ]),
  }))

/** The tables of resources, and TypeORM's own of what is none. On MariaDB all are those from before. */
async function makeTables(dataSource: DataSource, shop: Shop, { name }: Backend): Promise<void> {
  const { Visit, ...rest } = shop
  const resources: readonly EntityClass<object>[] = Object.values(rest)
  expect(resources.map((entity) => resourceModel(entity).strategy)).to.not.include(undefined)
  const isMysql = name === 'mariadb' || name === 'mysql8'
  if (isMysql) {
    await dataSource.query('ALTER DATABASE COLLATE utf8mb4_nopad_bin')
    await dataSource.synchronize()
  }
  const dialect = isMysql ? 'mariadb' : name === 'postgres' ? name : 'sqlite'
  await createTables(dataSource, resources, dialect)
  if (isMysql) return
  const { upQueries } = await dataSource.driver.createSchemaBuilder().log()
  const theirs = [Visit, dataSource.getMetadata(Visit).manyToManyRelations[0]!.junctionEntityMetadata!.target]
  const names = theirs.map((entity) => dataSource.getMetadata(entity).tableName)
  for (const { query, parameters } of upQueries)
    if (names.some((table) => query.includes(table))) await dataSource.query(query, parameters)
}

/** What the application did before: its results, with names in the place of minted keys. */
async function oldQueries(dataSource: DataSource, { Customer, Order, Warehouse, Visit }: Shop) {
  const [customers, orders, visits] = [
    dataSource.getRepository(Customer),
    dataSource.getRepository(Order),
    dataSource.getRepository(Visit),
  ]
  const bo = await customers.save({ accountId: 'acme', displayName: 'Bo' })
  await dataSource.getRepository(Warehouse).insert({ code: 'W1', accountId: 'acme', cityName: 'Oslo' })
  const saved = await orders.save([
    {
      ...{ id: 'o1', accountId: 'acme', orderNumber: 'A', total: 12, customer: bo },
      ...{ warehouse: { code: 'W1' }, shipToId: bo.id },
    },
    { id: 'o2', accountId: 'acme', orderNumber: 'B', total: 13, customer: bo },
  ])
  await visits.save({ pageUrl: '/a', customer: bo, orders: [saved[0]!] })
  await visits.save({ pageUrl: '/b', customer: { accountId: 'acme', displayName: 'Cy' } as never })
  await orders.update({ customer: { id: bo.id }, orderNumber: 'B' }, { orderNumber: 'C' })
  const results = {
    found: await orders.find({
      where: { customer: { displayName: 'Bo' } },
      relations: { customer: true, shipTo: true, ...({ warehouse: true } as object) },
      order: { orderNumber: 'DESC' },
    }),
    counted: await customers.count({ where: { isActive: true, creditLimit: 5 } }),
    inverse: await customers.findOne({ where: { id: bo.id }, relations: { orders: true } }),
    joined: await visits
      .createQueryBuilder('visit')
      .leftJoinAndSelect('visit.customer', 'customer')
      .leftJoinAndSelect('customer.orders', 'order')
      .innerJoinAndSelect('visit.orders', 'linked')
      .where('customer.displayName = :name', { name: 'Bo' })
      .orderBy('order.orderNumber')
      .getMany(),
    raw: await orders
      .createQueryBuilder('o')
      .select('o.orderNumber', 'number')
      .addSelect('customer.displayName', 'name')
      .innerJoin('o.customer', 'customer')
      .orderBy('o.orderNumber')
      .getRawMany(),
    eager: await visits.find({ order: { pageUrl: 'ASC' } }),
    saved: await customers.save({ ...bo, creditLimit: 9 }),
    upserted: await orders.upsert({ id: 'o2', accountId: 'acme', orderNumber: 'D', total: 1, customer: bo }, [
      'id',
    ]),
    left: undefined as unknown,
  }
  await visits.delete({ pageUrl: '/a' })
  await orders.remove(await orders.find())
  await customers.delete({ displayName: 'Bo' })
  results.left = [await customers.count(), await orders.count(), await visits.count()]
  const names = new Map([...(await customers.find()).map(({ id }) => [id, 'Cy'] as const), [bo.id, 'Bo']])
  let text = JSON.stringify(results)
  for (const [id, name] of names) text = text.replaceAll(id, name)
  return JSON.parse(text) as unknown
}
