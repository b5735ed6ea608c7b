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
import { Emits, ETag, Expirable, Resource, SoftDeletable, TenantScoped } from '../../../decorators/index.js'
import type { PartValue } from '../../../lib/resource/keys/key-part.js'
import type { EntityClass } from '../../../lib/resource/resource-model.js'
import type { BackendName } from '../../support/databases/backends.js'

/** A resource with a key of some type, as the tests see it. */
export interface Lot {
  id: PartValue
  accountId: string
  title: string
  etag: string
  updateTime?: Date
  deleteTime?: Date
  expireTime?: Date
  parts?: Part[]
}

/** A resource of the same type of key, which refers to a lot. */
export interface Part {
  id: PartValue
  accountId: string
  lotId?: PartValue
  nextId?: PartValue
  lot?: Lot
}

/** One type of keys, and the two resources that have it. */
export interface Keyed {
  readonly name: string
  /** The engines that have the type; all of them where it says nothing. */
  readonly isOf?: (backend: BackendName) => boolean
  /** In the order of the keys, at least four. */
  readonly keys: readonly PartValue[]
  /** Spellings of the second key, and keys that the column cannot hold. None of them is a key. */
  readonly wrong: readonly string[]
  /** Keys that not every engine can store. */
  readonly beyond: readonly PartValue[]
  readonly Lot: EntityClass<Lot>
  readonly Part: EntityClass<Part>
}

interface KeyType extends Pick<Keyed, 'name' | 'keys' | 'wrong' | 'isOf'>, Partial<Pick<Keyed, 'beyond'>> {
  readonly column: ColumnOptions
  readonly design: unknown
}

/** What nobody's key is. */
const NEVER = ['a\0b', '\ud800', 'x'.repeat(300), "1' OR '1'='1"]
/** Other spellings of 2. */
const TWOS = ['02', '+2', ' 2', '2 ', '2.0', '2e0', '0x2', '\uff12', '2abc', '-0', '', ...NEVER]
const BEYOND_INT64 = ['9223372036854775808', '-9223372036854775809', '1'.repeat(40)]
const UUIDS = [
  '00000000-0000-0000-0000-000000000000',
  '0189f7ea-ae2c-7809-8aeb-b819cf5e9e7f',
  '0189f7ea-ae2c-7809-8aeb-b819cf5e9e80',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
] as const

const TYPES: readonly KeyType[] = [
  {
    name: 'text',
    column: { type: 'varchar', length: 40 },
    design: String,
    keys: ['10', '9', 'B', 'a', 'a/b', '\uff12', '\u{1F600}'],
    wrong: ['09', '9 ', ' 9', ...NEVER],
  },
  {
    name: 'uuid',
    column: { type: 'uuid' },
    design: String,
    keys: UUIDS,
    wrong: [
      UUIDS[1].toUpperCase(),
      UUIDS[1].replaceAll('-', ''),
      `{${UUIDS[1]}}`,
      `${UUIDS[1]} `,
      '1',
      ...NEVER,
    ],
  },
  {
    name: 'smallint',
    column: { type: 'smallint' },
    design: Number,
    keys: [-32_768, 2, 10, 32_767],
    wrong: [...TWOS, '32768', '-32769', '65536', ...BEYOND_INT64],
  },
  {
    name: 'int',
    column: { type: 'int' },
    design: Number,
    keys: [-7, 2, 10, 2_147_483_647],
    wrong: [...TWOS, '2147483648', '4294967296', ...BEYOND_INT64],
  },
  {
    name: 'unsigned int',
    column: { type: 'int', unsigned: true },
    design: Number,
    keys: [0, 2, 10, 4_294_967_295],
    wrong: [...TWOS, '-1', '4294967296', ...BEYOND_INT64],
  },
  {
    name: 'bigint',
    column: { type: 'bigint' },
    design: BigInt,
    keys: [-(2n ** 63n), 2n, 10n, 9_007_199_254_740_993n, 2n ** 63n - 1n],
    wrong: [...TWOS, ...BEYOND_INT64],
  },
  {
    name: 'bigint as a string',
    column: { type: 'bigint' },
    design: String,
    keys: ['-9223372036854775808', '2', '10', '9007199254740993', '9223372036854775807'],
    wrong: [...TWOS, ...BEYOND_INT64],
  },
  {
    name: 'unsigned bigint',
    column: { type: 'bigint', unsigned: true },
    design: BigInt,
    keys: [0n, 2n, 10n, 9_007_199_254_740_993n, 2n ** 63n - 1n],
    wrong: [...TWOS, '-1', '18446744073709551616'],
    beyond: [2n ** 63n, 2n ** 64n - 1n],
  },
  {
    name: 'char',
    column: { type: 'char', length: 3 },
    // TypeORM refuses it there.
    isOf: (backend) => !backend.includes('sqlite'),
    design: String,
    keys: ['AED', 'EUR', 'USD', 'usd'],
    wrong: ['EUR ', ' EUR', 'eur', 'EU', 'EURO', ...NEVER],
  },
  {
    name: 'date',
    column: { type: 'date' },
    design: String,
    keys: ['1000-01-01', '2024-02-29', '2026-03-04', '9999-12-31'],
    wrong: [
      ...[
        '2024-2-29',
        '2024-02-29T00:00:00Z',
        '2024-02-30',
        '20240229',
        '24-02-29',
        '2024-02-29 ',
        '0999-12-31',
      ],
      ...['10000-01-01', 'infinity', 'today', '', ...NEVER],
    ],
  },
  {
    name: 'uuid in 16 bytes',
    column: { type: 'binary', length: 16 },
    design: String,
    keys: UUIDS,
    wrong: [UUIDS[1].toUpperCase(), UUIDS[1].replaceAll('-', ''), '1', '', ...NEVER],
  },
]

/** Declares both resources. TypeScript cannot say the type of a property that differs from class to class. */
function keyed(
  { name, column, design, keys, wrong, beyond = [], isOf = () => true }: KeyType,
  at: number,
): Keyed {
  @Entity(`lots_${at}`)
  @TenantScoped()
  @SoftDeletable()
  @Expirable()
  @Emits()
  @Unique(['title'])
  class AnyLot implements Lot {
    id!: PartValue
    accountId!: string
    @Column({ type: 'varchar', length: 100, nullable: true }) title!: string
    @ETag() etag!: string
    deleteTime?: Date
    expireTime?: Date
    @OneToMany(() => AnyPart, (part) => part.lot) parts?: AnyPart[]
  }
  @Entity(`parts_${at}`)
  @TenantScoped()
  @SoftDeletable()
  class AnyPart implements Part {
    id!: PartValue
    accountId!: string
    lotId?: PartValue
    nextId?: PartValue
    deleteTime?: Date
    @ManyToOne(() => AnyLot, (lot) => lot.parts, { onDelete: 'CASCADE' })
    @JoinColumn({ name: 'lot_id' })
    lot?: AnyLot
    @ManyToOne(() => AnyPart, { onDelete: 'SET NULL' })
    @JoinColumn({ name: 'next_id' })
    next?: AnyPart
  }
  const property = (entity: { readonly prototype: object }, name: string, decorate: PropertyDecorator) => {
    Reflect.defineMetadata('design:type', design, entity.prototype, name)
    decorate(entity.prototype, name)
  }
  for (const entity of [AnyLot, AnyPart]) property(entity, 'id', PrimaryColumn(column as never))
  for (const name of ['lotId', 'nextId']) property(AnyPart, name, Column({ ...column, nullable: true }))
  for (const [entity, type] of [
    [AnyLot, `lot_${at}`],
    [AnyPart, `part_${at}`],
  ] as const)
    Resource({ type })(entity)
  return { name, keys, wrong, beyond, isOf, Lot: AnyLot, Part: AnyPart }
}

/** Every type of keys that somebody chooses. */
export const KEYED: readonly Keyed[] = TYPES.map(keyed)
