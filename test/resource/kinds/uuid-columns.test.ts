import { expect } from 'chai'
import { Column, type DataSource, Entity, PrimaryColumn } from 'typeorm'
import { Resource } from '../../../decorators/index.js'
import { InvalidArgument } from '../../../lib/errors.js'
import { memoryRepositoryOf, repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import { collated } from '../../conformance/repository/open-subject.js'
import { backends, describeOn, type OpenBackend } from '../../support/databases/backends.js'
import { rejection } from '../../support/rejection.js'

@Resource({ shared: true })
@Entity('shipments')
class Shipment {
  @PrimaryColumn() id!: string
  @Column('uuid') carrier!: string
  @Column({ type: 'uuid', nullable: true }) parent?: string
}

const Shipments = repositoryOf(Shipment)
const [FIRST, SECOND, THIRD] = [
  '00000000-0000-0000-0000-000000000000',
  '0189f7ea-ae2c-7809-8aeb-b819cf5e9e7f',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
] as const
const WRONG = ['', 'x', SECOND.toUpperCase(), SECOND.replaceAll('-', ''), `{${SECOND}}`, `${SECOND} `]

describeOn('a column of UUIDs', backends, (backend) => {
  let opened: OpenBackend
  let shipments: InstanceType<typeof Shipments>

  before(async () => {
    opened = await backend.open([Shipment])
    const { dataSource, database } = opened
    if (dataSource === undefined || database === undefined) {
      shipments = new (memoryRepositoryOf(Shipment))() as never
      return
    }
    await createTables(collated(dataSource, backend), [Shipment], database.dialect.name)
    shipments = new Shipments(dataSource)
    await shipments.list()
  })
  after(() => opened.close())

  it('is read as it was written, filtered, ordered and paged', async () => {
    for (const carrier of [SECOND, THIRD, FIRST])
      await shipments.create({ id: carrier, carrier, ...(carrier === FIRST ? {} : { parent: FIRST }) })
    expect(await shipments.get(SECOND)).to.include({ carrier: SECOND, parent: FIRST })
    expect((await shipments.get(FIRST)).parent).to.equal(undefined)
    const ids = async (list: object) => (await shipments.list(list)).items.map(({ id }) => id)
    expect(await ids({ orderBy: 'carrier' })).to.deep.equal([FIRST, SECOND, THIRD])
    expect(await ids({ filter: `carrier = "${SECOND}"` })).to.deep.equal([SECOND])
    expect(await ids({ filter: `carrier > "${FIRST}"`, orderBy: 'carrier desc' })).to.deep.equal([
      THIRD,
      SECOND,
    ])
    expect(await ids({ filter: 'parent = null' })).to.deep.equal([FIRST])
    for (const [orderBy, expected] of [
      ['parent, carrier desc', [THIRD, SECOND, FIRST]],
      ['parent desc, carrier', [FIRST, SECOND, THIRD]],
    ] as const) {
      const walked: string[] = []
      for (let pageToken: string | undefined = ''; pageToken !== undefined;) {
        const page: { items: Shipment[]; nextPageToken?: string } = await shipments.list({
          orderBy,
          pageSize: 1,
          pageToken,
        })
        walked.push(...page.items.map(({ id }) => id))
        pageToken = page.nextPageToken || undefined
      }
      expect(walked).to.deep.equal(expected)
    }
  })

  it('is written in batches', async () => {
    await shipments.batchUpdate([
      { key: FIRST, entity: { carrier: THIRD }, fieldMask: ['carrier'] },
      { key: THIRD, entity: { carrier: FIRST, parent: SECOND }, fieldMask: ['carrier', 'parent'] },
    ])
    const read = await shipments.batchGet([FIRST, THIRD])
    expect(read.map(({ carrier, parent }) => [carrier, parent])).to.deep.equal([
      [THIRD, undefined],
      [FIRST, SECOND],
    ])
  })

  for (const wrong of WRONG)
    it(`has one spelling: ${JSON.stringify(wrong)}`, async () => {
      const refused = await rejection(shipments.create({ carrier: wrong }), InvalidArgument, 'lower case')
      expect(refused).to.include({ field: 'carrier' })
      await rejection(shipments.update(SECOND, { carrier: wrong }, ['carrier']), InvalidArgument)
      await rejection(shipments.list({ filter: `carrier = "${wrong}"` }), InvalidArgument, 'lower case')
    })

  it("is that of TypeORM's manager", async () => {
    const manager = (opened.dataSource as DataSource | undefined)?.manager
    if (manager === undefined) return
    await manager.insert(Shipment, { id: 'managed', carrier: SECOND })
    expect(await shipments.get('managed')).to.include({ carrier: SECOND })
    expect(await manager.findOneBy(Shipment, { carrier: SECOND, id: 'managed' })).to.include({
      carrier: SECOND,
    })
  })
})

describe('a property of the type uuid', () => {
  it('is a column of UUIDs, and can be a key', () => {
    expect(resourceModel(Shipment).byProperty.get('carrier')?.kind).to.equal('uuid')
    @Resource({ shared: true })
    @Entity('parcels')
    class Parcel {
      @PrimaryColumn('uuid') id!: string
    }
    expect(resourceModel(Parcel).key.kind).to.equal('uuid')
  })
})
