import 'reflect-metadata'
import { expect } from 'chai'
import { Column, Entity, Index, ManyToOne, PrimaryColumn } from 'typeorm'
import { Resource, TenantScoped } from '../../../decorators/index.js'
import { InvalidArgument } from '../../../lib/errors.js'
import { schemaComparison } from '../../../lib/persistence/comparison/schema-comparison.js'
import type { Repository } from '../../../lib/persistence/contract/repository.js'
import { filter } from '../../../lib/persistence/query/filter-template.js'
import { memoryRepositoryOf, repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import { liveSchemaOf } from '../../persistence/comparison/live-schema.js'
import { problemsOf } from '../../resource/typeorm/declarations.js'
import { type Backend, backends, describeOn } from '../../support/databases/backends.js'
import { applyBaseline } from '../../support/databases/baseline.js'
import { rejection } from '../../support/rejection.js'
import { inAcme } from '../free-form/free-form-resource.js'
import { collated } from '../repository/open-subject.js'

class Geo {
  @Column({ type: 'integer', nullable: true }) lat?: number
  @Column({ type: 'integer', nullable: true, name: 'long' }) lng?: number
}

class Address {
  @Column({ length: 40, nullable: true }) city?: string
  @Column({ nullable: true }) since?: Date
  @Column(() => Geo, { prefix: false }) geo?: Geo
}

class Counts {
  @Column('integer') seen!: number
}

@Resource()
@Entity('embedded_shops')
@TenantScoped()
@Index(['address.city'])
class Shop {
  @PrimaryColumn({ length: 40 }) id!: string
  @Column({ length: 40 }) title!: string
  @Column(() => Address) address?: Address
  @Column(() => Address, { prefix: 'ship_' }) shipping?: Address
  @Column(() => Counts) counts!: Counts
  @Column({ length: 40 }) accountId!: string
}

async function opened(backend: Backend) {
  const { dataSource, database, close } = await backend.open([Shop])
  if (dataSource === undefined || database === undefined)
    return { shops: new (memoryRepositoryOf(Shop))({}) as unknown as Repository<Shop>, dataSource, close }
  await applyBaseline(dataSource)
  await createTables(collated(dataSource, backend), [Shop], database.dialect.name)
  return { shops: new (repositoryOf(Shop))(dataSource) as unknown as Repository<Shop>, dataSource, close }
}

const SINCE = new Date(86_400_000)

describeOn('an embedded class', backends, (backend) => {
  let open: Awaited<ReturnType<typeof opened>>
  let shops: Repository<Shop>
  before(async () => {
    open = await opened(backend)
    ;({ shops } = open)
  })
  after(() => open?.close())
  afterEach(() => inAcme(() => shops.deleteMany(filter`id > ""`)))

  const make = (id: string, values: object = {}) =>
    shops.create({ id, title: 't', counts: { seen: 0 }, ...values } as never)
  const held = async (id: string) => {
    const { address, shipping, counts } = await shops.get(id)
    return JSON.parse(JSON.stringify({ address, shipping, counts })) as object
  }

  it('has the columns that TypeORM gives it', () => {
    const columns = resourceModel(Shop).fields.map(({ property, column }) => [property, column])
    expect(Object.fromEntries(columns)).to.deep.equal({
      id: 'id',
      title: 'title',
      'address.city': 'addressCity',
      'address.since': 'addressSince',
      'address.geo.lat': 'addressLat',
      'address.geo.lng': 'addressLong',
      'shipping.city': 'ship_City',
      'shipping.since': 'ship_Since',
      'shipping.geo.lat': 'ship_Lat',
      'shipping.geo.lng': 'ship_Long',
      'counts.seen': 'countsSeen',
      accountId: 'account_id',
    })
    const metadata = open.dataSource?.getMetadata(Shop)
    if (metadata === undefined) return
    for (const [path, column] of columns)
      expect(metadata.findColumnWithPropertyPath(path ?? '')?.databaseName).to.equal(column)
  })

  it('is unset if all of its columns are NULL', () =>
    inAcme(async () => {
      expect((await make('a')).address).to.equal(undefined)
      expect(await held('a')).to.deep.equal({ counts: { seen: 0 } })
      await make('b', { address: { geo: { lat: 1 } } })
      const { address } = await shops.get('b')
      expect(address).to.be.instanceOf(Address)
      expect(address?.geo).to.be.instanceOf(Geo)
      expect(await held('b')).to.deep.equal({ address: { geo: { lat: 1 } }, counts: { seen: 0 } })
    }))

  it('is updated as a whole, in part, in batches, and by code', () =>
    inAcme(async () => {
      await make('a', {
        address: { city: 'Ulm', since: SINCE, geo: { lat: 1, lng: 2 } },
        counts: { seen: 1 },
      })
      const update = (values: object, ...mask: string[]) => shops.update('a', values as never, mask as never)
      await update({ address: { city: 'Bonn' } }, 'address.city')
      const since = SINCE.toJSON()
      const bonn = { address: { city: 'Bonn', since, geo: { lat: 1, lng: 2 } }, counts: { seen: 1 } }
      expect(await held('a')).to.deep.equal(bonn)
      await update({ address: { geo: { lng: 5 } } }, 'address.geo')
      expect(await held('a')).to.deep.equal({ ...bonn, address: { ...bonn.address, geo: { lng: 5 } } })
      await shops.batchUpdate([
        { key: 'a', entity: { address: { city: 'Kiel' } }, fieldMask: ['address'] },
      ] as never)
      expect(await held('a')).to.deep.equal({ address: { city: 'Kiel' }, counts: { seen: 1 } })
      await shops.updateMany(filter`address.city = "Kiel"`, { shipping: { city: 'x' } } as never)
      await shops.modify('a', (shop) => ({ counts: { seen: shop.counts.seen + 1 } }) as never)
      const all = { address: { city: 'Kiel' }, shipping: { city: 'x' }, counts: { seen: 2 } }
      expect(await held('a')).to.deep.equal(all)
      await shops.update('a', await shops.get('a'))
      expect(await held('a')).to.deep.equal(all)
      await update({}, 'shipping')
      expect((await shops.get('a')).shipping).to.equal(undefined)
      await rejection(update({}, 'address.town'), InvalidArgument, 'there is no field "address.town"')
    }))

  it('is filtered, sorted and paged', () =>
    inAcme(async () => {
      for (const [id, city, lat] of [
        ['a', 'Ulm', 3],
        ['b', 'Bonn', 2],
        ['c', undefined, 1],
      ] as const)
        await make(id, { address: { city, geo: { lat } } })
      const found = async (options: object) => (await shops.list(options)).items.map(({ id }) => id).join('')
      expect(await found({ filter: 'address.city = "Ulm"' })).to.equal('a')
      expect(await found({ filter: 'address.geo.lat < 3', orderBy: 'address.geo.lat' })).to.equal('cb')
      expect(await found({ filter: 'NOT address.city:*' })).to.equal('c')
      let ids = ''
      for (let pageToken = ''; ;) {
        const page = await shops.list({ orderBy: 'address.city desc' as never, pageSize: 1, pageToken })
        ids += page.items.map(({ id }) => id).join('')
        if ((pageToken = page.nextPageToken) === '') break
      }
      expect(ids).to.equal('cab')
      await rejection(shops.list({ filter: 'address = "x"' }), InvalidArgument)
      await rejection(shops.list({ filter: 'address.town = "x"' }), InvalidArgument)
      await rejection(make('d', { address: { city: 'x'.repeat(41) } }), InvalidArgument, 'address.city')
    }))

  it("is read and written by TypeORM's manager", () =>
    inAcme(async () => {
      const { dataSource } = open
      if (dataSource === undefined) return
      await make('a', { address: { city: 'Ulm', geo: { lat: 4 } } })
      const { manager } = dataSource
      const read = await manager.findOneByOrFail(Shop, { id: 'a' })
      expect([read.address?.city, read.address?.geo?.lat, read.counts.seen]).to.deep.equal(['Ulm', 4, 0])
      read.address!.city = 'Bonn'
      await manager.save(read)
      expect((await shops.get('a')).address?.city).to.equal('Bonn')
    }))

  it('has no difference to its table', () =>
    inAcme(async () => {
      if (open.dataSource === undefined || backend.name === 'sqlite') return
      expect(await schemaComparison([Shop])(liveSchemaOf(open.dataSource))).to.deep.equal([])
    }))
})

describe('what an embedded class cannot have', () => {
  const problemsWith = (type: new () => object): readonly string[] => {
    @Resource({ shared: true })
    @Entity('embedded_wrong')
    class Wrong {
      @PrimaryColumn() id!: string
      @Column(() => type) part?: object
    }
    return problemsOf(Wrong)
  }

  it('names relations, indexes and keys', () => {
    class Related {
      @Column() title!: string
      @ManyToOne(() => Shop) shop?: Shop
    }
    class Indexed {
      @Index() @Column() title!: string
    }
    class Keyed {
      @PrimaryColumn() title!: string
    }
    expect(problemsWith(Related).join()).to.include('part is an embedded class with a relation')
    expect(problemsWith(Indexed).join()).to.include("declare it above the entity, as in ['part.name']")
    expect(problemsWith(Keyed).join()).to.include('title is not a plain @Column()')
  })

  it('names a time that no row has if the message is unset', () => {
    class Timed {
      @Column() at!: Date
    }
    expect(problemsWith(Timed)).to.deep.equal([
      'part.at is in a message that may be unset, but its column is NOT NULL without a zero value: make it nullable, or make the field of the message REQUIRED',
    ])
  })
})
