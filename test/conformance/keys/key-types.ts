import 'reflect-metadata'
import type { ColumnOptions } from 'typeorm'
import type { PartValue } from '../../../lib/resource/keys/key-part.js'
import type { BackendName } from '../../support/databases/backends.js'

/** A type of keys that somebody chooses. */
export interface KeyType {
  readonly name: string
  readonly column: ColumnOptions
  /** The class that TypeScript reports of the property. */
  readonly design: unknown
  /** In the order of the keys, at least four. */
  readonly keys: readonly PartValue[]
  /** A key of the type that is not among them. */
  readonly missing: PartValue
  /** Spellings of the second key, and keys that the column cannot hold. None of them is a key. */
  readonly wrong: readonly string[]
  /** Keys that not every engine can store. */
  readonly beyond?: readonly PartValue[]
  /** The engines that have the type; all of them where it says nothing. */
  readonly isOf?: (backend: BackendName) => boolean
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

/** Every type of keys that somebody chooses. */
export const KEY_TYPES: readonly KeyType[] = [
  {
    name: 'text',
    missing: '77',
    column: { type: 'varchar', length: 40 },
    design: String,
    keys: ['10', '9', 'B', 'a', 'a/b', '\uff12', '\u{1F600}'],
    wrong: ['09', '9 ', ' 9', ...NEVER],
  },
  {
    name: 'uuid',
    missing: '0189f7ea-ae2c-7809-8aeb-000000000000',
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
    missing: 77,
    column: { type: 'smallint' },
    design: Number,
    keys: [-32_768, 2, 10, 32_767],
    wrong: [...TWOS, '32768', '-32769', '65536', ...BEYOND_INT64],
  },
  {
    name: 'int',
    missing: 77,
    column: { type: 'int' },
    design: Number,
    keys: [-7, 2, 10, 2_147_483_647],
    wrong: [...TWOS, '2147483648', '4294967296', ...BEYOND_INT64],
  },
  {
    name: 'unsigned int',
    missing: 77,
    column: { type: 'int', unsigned: true },
    design: Number,
    keys: [0, 2, 10, 4_294_967_295],
    wrong: [...TWOS, '-1', '4294967296', ...BEYOND_INT64],
  },
  {
    name: 'bigint',
    missing: 77n,
    column: { type: 'bigint' },
    design: BigInt,
    keys: [-(2n ** 63n), 2n, 10n, 9_007_199_254_740_993n, 2n ** 63n - 1n],
    wrong: [...TWOS, ...BEYOND_INT64],
  },
  {
    name: 'bigint as a string',
    missing: '77',
    column: { type: 'bigint' },
    design: String,
    keys: ['-9223372036854775808', '2', '10', '9007199254740993', '9223372036854775807'],
    wrong: [...TWOS, ...BEYOND_INT64],
  },
  {
    name: 'unsigned bigint',
    missing: 77n,
    column: { type: 'bigint', unsigned: true },
    design: BigInt,
    keys: [0n, 2n, 10n, 9_007_199_254_740_993n, 2n ** 63n - 1n],
    wrong: [...TWOS, '-1', '18446744073709551616'],
    beyond: [2n ** 63n, 2n ** 64n - 1n],
  },
  {
    name: 'char',
    missing: 'SEK',
    column: { type: 'char', length: 3 },
    // TypeORM refuses it there.
    isOf: (backend) => !backend.includes('sqlite'),
    design: String,
    keys: ['AED', 'EUR', 'USD', 'usd'],
    wrong: ['EUR ', ' EUR', 'eur', 'EU', 'EURO', ...NEVER],
  },
  {
    name: 'date',
    missing: '2024-03-01',
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
    missing: '0189f7ea-ae2c-7809-8aeb-000000000000',
    column: { type: 'binary', length: 16 },
    design: String,
    keys: UUIDS,
    wrong: [UUIDS[1].toUpperCase(), UUIDS[1].replaceAll('-', ''), '1', '', ...NEVER],
  },
]

/**
 * Declares a property that has a column. TypeScript cannot say the type of one that differs from class to
 * class.
 */
export function declareKey(
  { prototype }: { readonly prototype: object },
  property: string,
  design: unknown,
  decorate: PropertyDecorator,
): void {
  Reflect.defineMetadata('design:type', design, prototype, property)
  decorate(prototype, property)
}
