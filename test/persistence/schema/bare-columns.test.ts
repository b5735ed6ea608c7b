import { expect } from 'chai'
import { Column, type DataSource, Entity, PrimaryColumn } from 'typeorm'
import { Resource, TenantScoped } from '../../../decorators/index.js'
import { RequestContext } from '../../../lib/context.js'
import { DeclarationError } from '../../../lib/errors.js'
import { tableMigrations } from '../../../lib/persistence/index.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import { collated } from '../../conformance/repository/open-subject.js'
import { databases, describeOn, type OpenBackend } from '../../support/databases/backends.js'
import { type Parcel_Size, ParcelSchema } from '../../support/gen/parcels_pb.js'

/** As docs/reference/entities.md says: without a type where the field is a list, a map or a message. */
@Resource({ message: ParcelSchema })
@Entity('bare_parcels')
@TenantScoped()
class BareParcel {
  @PrimaryColumn() id!: string
  @Column() title!: string
  @Column({ type: 'text', nullable: true }) note?: string
  @Column({ nullable: true }) address?: { city: string; street: string; doorCode: string }
  @Column() lines!: { product: string; quantity: number }[]
  @Column() stamps!: Record<string, { office: string }>
  @Column() code!: string
  @Column() pin!: string
  @Column({ type: String }) size!: Parcel_Size
  @Column() weight!: number
  @Column() serial!: string
  @Column() createTime!: Date
  @Column() etag!: string

  accountId!: string
}

@Resource()
@Entity('bare_lists')
@TenantScoped()
class WithoutMessage {
  @PrimaryColumn() id!: string
  @Column() lines!: string[]
  @Column() stamps!: Record<string, string>
  accountId!: string
}

const JSON_FIELDS = ['address', 'lines', 'stamps']

describe('a column without a type, of a list, a map or a message', () => {
  for (const [dialect, type] of [
    ['postgres', 'jsonb'],
    ['mysql', 'json'],
  ] as const)
    it(`is ${type} on ${dialect}`, () => {
      const [table] = tableMigrations({ BareParcel })
      const columns = new RegExp(`^\\s*["\`](\\w+)["\`] ${type}\\b`, 'gm')
      const found = [...(table?.sqlFor(dialect).up ?? '').matchAll(columns)].map(([, name]) => name)
      expect(found).to.have.members(JSON_FIELDS)
    })

  it('needs a type where the resource has no message', () => {
    expect(() => resourceModel(WithoutMessage)).to.throw(DeclarationError, /lines has.*\n.*stamps has/)
  })
})

describeOn('a column without a type, of a list, a map or a message', databases, (on) => {
  let backend: OpenBackend
  before(async () => {
    backend = await on.open([BareParcel])
  })
  after(() => backend?.close())

  it('is read as it was written', () =>
    RequestContext.as({ tenant: 'acme', subject: 'ada' }, async () => {
      const dataSource = backend.dataSource as DataSource
      await createTables(collated(dataSource, on), [BareParcel], backend.database!.dialect.name)
      const parcels = new (repositoryOf(BareParcel))(dataSource)
      const parcel = {
        ...{
          title: 'A',
          code: '',
          pin: '',
          size: 1,
          weight: 1,
          serial: '',
          etag: '',
          createTime: new Date(0),
        },
        address: { city: 'Delft', street: 's', doorCode: 'c' },
        lines: [{ product: 'p', quantity: 2 }],
        stamps: { k: { office: 'o' } },
      }
      const { id } = await parcels.create(parcel)
      const read = (await parcels.get(id)) as unknown as Record<string, unknown>
      for (const field of JSON_FIELDS)
        expect(JSON.parse(JSON.stringify(read[field]))).to.deep.equal(parcel[field as keyof typeof parcel])
    }))
})
