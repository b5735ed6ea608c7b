import 'reflect-metadata'
import {
  Column,
  type ColumnOptions,
  Entity,
  JoinColumn,
  ManyToOne,
  OneToMany,
  PrimaryColumn,
  Unique,
} from 'typeorm'
import {
  Emits,
  ETag,
  Expirable,
  Resource,
  Searchable,
  Secret,
  SoftDeletable,
  TenantColumn,
  TenantScoped,
} from '../../../decorators/index.js'
import type { PartValue } from '../../../lib/resource/keys/key-part.js'
import type { EntityClass } from '../../../lib/resource/resource-model.js'

/** A resource whose tenant has some type, as the tests see it. */
export interface Bill {
  id: string
  orgId: PartValue
  title: string
  secret?: Secret
  etag: string
  expireTime?: Date
  lines?: Line[]
  org?: Org
}

/** A resource of the same tenants, which refers to a bill. */
export interface Line {
  id: string
  orgId: PartValue
  billId: string
  nextId?: string
  bill?: Bill
}

/** One tenant. */
export interface Org {
  id: PartValue
  title: string
}

/** One type of tenants, and the resources that have it. */
export interface Tenanted {
  readonly name: string
  /** The texts of two tenants, and what entities hold of them, in their order. */
  readonly texts: readonly [string, string]
  readonly values: readonly [PartValue, PartValue]
  /** Spellings of the first tenant, and tenants that the column cannot hold. None of them is one. */
  readonly wrong: readonly string[]
  /** Whether the tenant is a part of the primary key. */
  readonly isInKey: boolean
  readonly Bill: EntityClass<Bill>
  readonly Line: EntityClass<Line>
  /** The resource of the tenants, where they are one. */
  readonly Org: EntityClass<Org> | undefined
}

interface TenantType extends Pick<Tenanted, 'name' | 'texts' | 'values' | 'wrong'> {
  readonly column: ColumnOptions
  readonly design: unknown
}

/** What is not a tenant of any type but text. */
const NEVER = ['a\0b', '\ud800', 'x'.repeat(300), "2' OR '1'='1", '%', '*']
/** Other spellings of 2. */
const TWOS = ['02', '+2', ' 2', '2 ', '2.0', '2e0', '0x2', '\uff12', '2abc', '-0', '2/10', ...NEVER]
const UUIDS = ['0189f7ea-ae2c-7809-8aeb-b819cf5e9e7f', '0189f7ea-ae2c-7809-8aeb-b819cf5e9e80'] as const

const TYPES: readonly TenantType[] = [
  {
    name: 'uuid',
    column: { type: 'uuid' },
    design: String,
    texts: UUIDS,
    values: UUIDS,
    wrong: [
      UUIDS[0].toUpperCase(),
      UUIDS[0].replaceAll('-', ''),
      `{${UUIDS[0]}}`,
      `${UUIDS[0]} `,
      `urn:uuid:${UUIDS[0]}`,
      '2',
      ...NEVER,
    ],
  },
  {
    name: 'int',
    column: { type: 'int' },
    design: Number,
    texts: ['2', '10'],
    values: [2, 10],
    wrong: [...TWOS, '2147483648', '4294967298'],
  },
  {
    name: 'unsigned int',
    column: { type: 'int', unsigned: true },
    design: Number,
    texts: ['2', '4294967295'],
    values: [2, 4_294_967_295],
    wrong: [...TWOS, '-2', '4294967298'],
  },
  {
    name: 'bigint',
    column: { type: 'bigint' },
    design: BigInt,
    texts: ['9007199254740992', '9007199254740993'],
    values: [9_007_199_254_740_992n, 9_007_199_254_740_993n],
    wrong: ['09007199254740992', '9007199254740992.0', '9.007199254740992e15', ...TWOS, '1'.repeat(40)],
  },
  {
    name: 'bigint as a string',
    column: { type: 'bigint' },
    design: String,
    texts: ['2', '9007199254740993'],
    values: ['2', '9007199254740993'],
    wrong: [...TWOS, '18446744073709551618'],
  },
  {
    name: 'unsigned bigint',
    column: { type: 'bigint', unsigned: true },
    design: BigInt,
    texts: ['2', '9223372036854775807'],
    values: [2n, 2n ** 63n - 1n],
    wrong: [...TWOS, '-2', '18446744073709551618'],
  },
  {
    name: 'varchar',
    column: { type: 'varchar', length: 40 },
    design: String,
    texts: ['acme', 'b/c'],
    values: ['acme', 'b/c'],
    wrong: ['ACME', 'acme ', ' acme', 'äcme', '\uff41cme', ...NEVER],
  },
]

/** How a resource says its tenant. */
type Form = 'column' | 'marked' | 'alone' | 'relation'

/**
 * Declares the resources. TypeScript cannot say the type of a property that differs from class to class.
 * @param form - `column`: by `@TenantScoped({ column })`; `marked`: by `@TenantColumn()`; `alone`: the same,
 * and the key alone is the primary key; `relation`: it is a reference to the resource of the tenants.
 */
function tenanted(type: TenantType, form: Form, at: number): Tenanted {
  const { name, column, design, texts, values, wrong } = type
  @Resource({ type: `org_${at}`, shared: true })
  @Entity(`orgs_${at}`)
  class AnyOrg implements Org {
    id!: PartValue
    @Column({ type: 'varchar', length: 100, nullable: true }) title!: string
  }
  @Entity(`bills_${at}`)
  @SoftDeletable()
  @Expirable()
  @Emits()
  @Searchable({ sources: ['title'] })
  @Unique(['title'])
  class AnyBill implements Bill {
    @PrimaryColumn({ type: 'varchar', length: 40 }) id!: string
    orgId!: PartValue
    @Column({ type: 'varchar', length: 100, nullable: true }) title!: string
    @Secret() secret?: Secret
    @ETag() etag!: string
    deleteTime?: Date
    expireTime?: Date
    @OneToMany(() => AnyLine, (line) => line.bill) lines?: AnyLine[]
    org?: AnyOrg
  }
  @Entity(`lines_${at}`)
  @SoftDeletable()
  class AnyLine implements Line {
    @PrimaryColumn({ type: 'varchar', length: 40 }) id!: string
    orgId!: PartValue
    @Column({ type: 'varchar', length: 40 }) billId!: string
    @Column({ type: 'varchar', length: 40, nullable: true }) nextId?: string
    deleteTime?: Date
    @ManyToOne(() => AnyBill, (bill) => bill.lines, { onDelete: 'CASCADE' })
    @JoinColumn({ name: 'bill_id' })
    bill?: AnyBill
    @ManyToOne(() => AnyLine, { onDelete: 'SET NULL' })
    @JoinColumn({ name: 'next_id' })
    next?: AnyLine
  }
  const property = (
    entity: { readonly prototype: object },
    named: string,
    ...decorate: PropertyDecorator[]
  ) => {
    Reflect.defineMetadata('design:type', design, entity.prototype, named)
    for (const each of decorate) each(entity.prototype, named)
  }
  property(AnyOrg, 'id', PrimaryColumn(column as never))
  const isMarked = form === 'marked' || form === 'alone'
  for (const entity of [AnyBill, AnyLine])
    property(entity, 'orgId', Column({ ...column, name: 'owner' }), ...(isMarked ? [TenantColumn()] : []))
  if (form === 'relation')
    for (const each of [ManyToOne(() => AnyOrg), JoinColumn({ name: 'owner' })])
      each(AnyBill.prototype, 'org')
  for (const [entity, called] of [
    [AnyBill, `bill_${at}`],
    [AnyLine, `line_${at}`],
  ] as const) {
    const named = form === 'relation' && entity === AnyBill ? 'org' : 'orgId'
    if (form !== 'alone') TenantScoped(isMarked ? {} : { column: named })(entity)
    Resource({ type: called })(entity)
  }
  return {
    name: `${name}, ${form}`,
    texts,
    values,
    wrong,
    isInKey: form !== 'alone',
    Bill: AnyBill,
    Line: AnyLine,
    Org: form === 'relation' ? AnyOrg : undefined,
  }
}

const FORMS: readonly Form[] = ['column', 'relation', 'alone', 'marked']

/**
 * Every type of tenants in every form. Each type is in the first rows. Each form is in every other of them,
 * which are those that one server is asked.
 */
export const TENANTED: readonly Tenanted[] = FORMS.flatMap((_, shift) =>
  TYPES.map((type, at) => [type, FORMS[(Math.ceil(at / 2) + shift) % FORMS.length] as Form] as const),
).map(([type, form], at) => tenanted(type, form, at))

/** How many of them are asked where not all are. */
export const FEW = TYPES.length
