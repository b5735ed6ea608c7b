import type { ColumnOptions } from 'typeorm'
import { FieldDescriptorProto_Type as Type } from '@bufbuild/protobuf/wkt'
import type { PartValue } from '../../../lib/resource/keys/key-part.js'
import { drilling } from '../../support/drill.js'
import { type Chosen, combinations } from './combinations.js'

/** What people bring, and what a resource can do with it. */
export const CHOICES = {
  naming: ['snake', 'typeorm', 'strategy'],
  table: ['new', 'existing, keyed by tenant and id', 'existing, keyed by id'],
  tenant: ['text', 'uuid', 'int', 'bigint', 'relation'],
  key: ['text', 'uuid', 'int', 'bigint', 'minted'],
  children: ['none', 'cascade', 'set null', 'restrict'],
  deletes: ['softly', 'for good'],
  isRenamed: [false, true],
  hasInternals: [false, true],
  hasNulls: [false, true],
  hasTrigger: [false, true],
  emits: [false, true],
  searches: [false, true],
  hasSecrets: [false, true],
} as const

/** What one resource is like. */
export type Choice = Chosen<typeof CHOICES>

/** A resource that Ashlar has the table of has no NULL behind a field without presence, and no trigger. */
const isPossible = ({ table, key, hasNulls, hasTrigger }: Partial<Choice>): boolean => {
  if (table === 'new' && (hasNulls === true || hasTrigger === true)) return false
  return table !== 'existing, keyed by tenant and id' || key !== 'minted'
}

/** Each pair of choices in `npm test`; in the drill, each three of them. */
export const ASKED: readonly Choice[] = combinations(CHOICES, isPossible, drilling ? 3 : 2)

/** A type of keys or tenants. */
export interface PartType {
  readonly column: ColumnOptions
  readonly design: unknown
  /** Of the field in the message. */
  readonly wire: Type
  readonly valueOf: (text: string) => PartValue
}

const TEXT: PartType = {
  ...{ column: { type: 'varchar', length: 40 }, design: String, wire: Type.STRING, valueOf: String },
}
const UUID: PartType = { ...TEXT, column: { type: 'uuid' } }
const INT: PartType = { column: { type: 'int' }, design: Number, wire: Type.INT32, valueOf: Number }
const BIGINT: PartType = { column: { type: 'bigint' }, design: BigInt, wire: Type.INT64, valueOf: BigInt }

const uuid = (n: number) => `0189f7ea-ae2c-7809-8aeb-${n.toString(16).padStart(12, '0')}`
const BEYOND_DOUBLE = 2n ** 53n

/** The types of keys, and how the n-th one is written. */
export const KEYS: Readonly<Record<Choice['key'], PartType & { readonly textOf: (n: number) => string }>> = {
  text: { ...TEXT, textOf: (n) => `k${n}` },
  uuid: { ...UUID, textOf: uuid },
  int: { ...INT, textOf: String },
  bigint: { ...BIGINT, textOf: (n) => String(BEYOND_DOUBLE + BigInt(n)) },
  minted: { ...INT, wire: Type.STRING, textOf: (n) => String(1_000_000 + n) },
}

/** The types of tenants, two of them, and other spellings of the first. */
export const TENANTS: Readonly<
  Record<
    Choice['tenant'],
    PartType & { readonly texts: readonly [string, string]; readonly wrong: readonly string[] }
  >
> = {
  text: { ...TEXT, texts: ['acme', 'globex'], wrong: ['ACME', 'acme ', '\uff41cme'] },
  uuid: {
    ...{ ...UUID, texts: [uuid(0xac), uuid(0xad)] },
    wrong: [uuid(0xac).toUpperCase(), uuid(0xac).replaceAll('-', ''), `{${uuid(0xac)}}`],
  },
  int: { ...INT, texts: ['2', '10'], wrong: ['02', '2.0', '2abc', '4294967298'] },
  bigint: {
    ...{ ...BIGINT, texts: ['9007199254740992', '9007199254740993'] },
    wrong: ['09007199254740992', '9007199254740992.0', '9.007199254740992e15'],
  },
  relation: { ...INT, wire: Type.STRING, texts: ['2', '10'], wrong: ['02', ' 2', '2e0'] },
}

/** A choice in a few words. */
export const nameOf = (choice: Choice): string =>
  [
    ...[choice.naming, choice.table, `tenant ${choice.tenant}`, `key ${choice.key}`],
    ...[`children ${choice.children}`, `deletes ${choice.deletes}`],
    ...Object.entries(choice).flatMap(([name, value]) => (value === true ? [name] : [])),
  ].join('; ')
