import type { EnumNames } from '../../../resource/enums/enum-names.js'
import type { Field } from '../../../resource/fields/field.js'
import type { Facets, KindName, ListForm, Range } from '../../../resource/kinds/kind.js'
import type { PlanColumn, PlanValue } from '../../query/query-plan.js'
import { decimalOf, decimalText, exactDecimal } from '../../../resource/kinds/fractions.js'
import { ownOf } from '../../../resource/kinds/kinds.js'
import type { BoundValue } from './bound-value.js'
import { storedDate } from './stored-time.js'

/** A field whose values are stored. */
export type StoredField = Facets & { readonly proto: string }

/**
 * An entity's value → what the driver is given. Never asked about undefined and null, which are NULL in every
 * column.
 */
export type Encode = (value: unknown) => unknown

/** A stored value → an entity's value. Never asked about NULL. */
export type Decode = (value: unknown) => unknown

/** The differences between TypeORM's own manager and repositories. */
export interface ManagedOtherwise {
  /** Follows "TypeORM's own manager". */
  readonly what: string
  readonly advice: string
}

/** Values of which JSON holds most as numbers, which cost less than texts. */
export interface Numbered {
  readonly number: string
  readonly text: string
  /** True if the number is not the value. Then all of the page are texts. */
  readonly isInexact: string
}

/**
 * The SQL of one engine for one kind of column. The functions receive the field, because it has the length of
 * a string and the names of an enum. A text is SQL, and so is `column`, unless its comment says otherwise.
 */
export interface KindSql {
  /** The type of the column, without its collation. */
  readonly type: (field: Facets) => string
  /** The same in the words of the catalog, where they differ. */
  readonly catalogType?: (field: Facets) => string
  /** The type of a value in a statement that passes many at once, where the column's own type cannot. */
  readonly passedAs?: (field: Facets) => string | undefined
  /** The constant for existing rows of a new column, where it is not the kind's. */
  readonly filler?: (field: Facets) => string | undefined
  /** True if such a column has a collation. */
  readonly isText: boolean
  /** The type of an array of values. Undefined where a value cannot be an array. */
  readonly arrayType?: (field: Facets) => string
  /** True if a column of that type, as the catalog names it, gives back each value as it was written. */
  readonly keeps: (field: Facets, type: string) => boolean
  /**
   * True if a column of that type, as the catalog names it, compares values of a key exactly, and takes all
   * of them. Undefined where a collation says it.
   */
  readonly exactAs?: (field: Facets, type: string) => boolean | undefined
  /**
   * The way in which a column of that type, as the catalog names it, stores, orders or returns other values
   * than those written. Undefined if it does not. An existing table with such a column fails at startup.
   */
  readonly alteredBy?: (type: string, field: Facets) => string | undefined
  /**
   * The canonical string of a value, if the column's own type may treat other strings as equal. Undefined if
   * the column compares canonically.
   */
  readonly textOf?: (field: Facets) => ((value: string) => string) | undefined
  /**
   * The condition of rows whose UUID is stored as text in another format, and the canonical text of one.
   * Undefined if the column holds no other.
   */
  readonly otherFormat?: (
    field: Facets,
    column: string,
  ) => { readonly condition: string; readonly canonical: string } | undefined
  /** A key as text, where a statement keeps that beside it. Undefined where the engine converts it. */
  readonly keyText?: (column: string, field: Facets) => string
  /** The range of the engine, if it is smaller than the kind's. */
  readonly range?: Range

  /** Stands for a value; `index` counts the parameters of the statement from 1. */
  readonly placeholder: (column: Pick<PlanColumn, 'inside'>, index: number) => string
  /** A plan's value as the column stores it, for a filter and for a write alike. */
  readonly value: (value: PlanValue, column: Pick<PlanColumn, 'inside' | 'stored' | 'decimal'>) => BoundValue
  /** Undefined where values are bound as they are. */
  readonly encoder: (field: StoredField) => Encode | undefined
  /**
   * The same for a key that rows are looked for by, where the column cannot hold each: then no row has it.
   * Undefined where it is bound as it is written.
   */
  readonly keyEncoder?: Encode

  /** The SELECT expression of the column that its decoder expects. */
  readonly selected: (column: string, alias: string, field: Facets) => string
  /** The same in rows that are gathered as one text. Undefined where the engine cannot. */
  readonly gathered?: (column: string, field: Facets) => string
  /**
   * Elements that JSON may contain as numbers, by their name. Undefined if they stay as they are.
   */
  readonly numbered?: (name: string) => Numbered
  /**
   * The values that the decoder reads: all, or some, and undefined for the others. Undefined if it may throw.
   */
  readonly reads?: (field: Facets) => 'all' | 'some' | undefined
  /** Returns undefined, or throws, for a value that the entity cannot hold. */
  readonly decoder: (field: StoredField) => Decode
  /**
   * The condition of a stored value that is not NULL and that the entity can hold. Undefined if it can hold
   * all. A full update keeps the others where the field is unset.
   */
  readonly readable?: (column: string, field: Facets) => string | undefined
  /**
   * JavaScript that decodes in place, of the JavaScript that reads the value. Undefined where that costs more
   * than a call.
   */
  readonly inline?: (value: string) => string

  /**
   * The way in which TypeORM's own manager reads and writes such a column differently, with these options of
   * a DataSource. Undefined if it never does. @param isExisting - true if TypeORM has the column as declared.
   */
  readonly managed?: (
    options: Readonly<Record<string, unknown>>,
    field: Facets,
    isExisting: boolean,
  ) => ManagedOtherwise | undefined

  /** The number of bytes a value has. Undefined for as many as its text. */
  readonly byteLength?: (column: string) => string

  /** The zero value as a constant, where it is not a number, boolean or text. */
  readonly zero?: string

  /**
   * The column in orders and in comparisons other than equality, if its type orders values otherwise.
   * Undefined if it does not.
   */
  readonly ordered?: (column: string, field: Facets) => string | undefined
  /** The first characters or bytes of a column. */
  readonly beginning: (column: string, length: number) => string
  /**
   * A field of a message that is stored as JSON. NULL where it has no value, or one of another type.
   * Undefined where it cannot be compared.
   */
  readonly inside?: (column: string, keys: readonly string[]) => string
  /**
   * A stored value exactly, as a cursor needs it: another writer's may be finer than the entity's value, or
   * none that we write, and the entity's value in its place would repeat its row or lose others. Undefined
   * where the entity's value is exact.
   */
  readonly exact?: (stored: unknown, value: unknown, field: Facets) => unknown
  /** The first and the last value of a column that are read as this time, which is cut to the millisecond. */
  readonly millisecond?: (time: Date) => readonly [first: BoundValue, last: BoundValue]
  /** True if a column can hold this, which is not written by us. Undefined where it holds nothing else. */
  readonly holds?: (value: unknown) => boolean
}

/** `any` is a column of unknown type, which no resource has. */
export type KindsSql = Readonly<Record<KindName | 'any', KindSql>>

/** The part of a dialect about kinds. */
export interface OfKinds {
  readonly values: { readonly kinds: KindsSql }
}

/** The encoder of a field's values: in the form that filters use, so that both find the same row. */
export function encoderOf(
  field: StoredField & Pick<Field, 'kind' | 'transformed'>,
  { values: { kinds } }: OfKinds,
): Encode | undefined {
  const { transformed, held } = field
  const encodeOwn = kinds[field.kind].encoder(field)
  const encode: Encode | undefined =
    held === undefined
      ? encodeOwn
      : (value) => (encodeOwn === undefined ? ownOf(value, field) : encodeOwn(ownOf(value, field)))
  if (transformed === undefined) return encode
  return (value) => {
    const stored = transformed.to(value)
    return encode === undefined || stored === null ? stored : encode(stored)
  }
}

/** The encoder of a key by which rows are searched for. */
export const keyEncoderOf = (
  field: StoredField & { readonly kind: KindName },
  { values: { kinds } }: OfKinds,
): Encode | undefined => kinds[field.kind].keyEncoder ?? kinds[field.kind].encoder(field)

/** Parts of entries that are the same on several engines. */
const readsAll = () => 'all' as const
const readsSome = () => 'some' as const
export const READS = { all: { reads: readsAll }, some: { reads: readsSome } } as const

export const OF_TEXT = {
  ...READS.all,
  encoder: () => undefined,
  decoder: (): Decode => (value) => value,
  inline: (value: string) => value,
}

export const OF_DATE = {
  ...READS.some,
  decoder: (): Decode => storedDate,
  // `infinity` and dates of zero are sorted as they are stored.
  exact: (stored: unknown) => stored,
}

/**
 * A name that another version of the message has is read as the zero value, and sorted as what it is. A label
 * that the message does not know is unset in the entity.
 */
export const OF_ENUM = {
  encoder:
    ({ enumNames }: Facets): Encode =>
    (value) =>
      enumNames?.labels === undefined
        ? enumNames?.nameOf.get(value as number)
        : enumNames.labels.labelIn(value),
  decoder: ({ enumNames }: Facets): Decode => {
    const labels = enumNames?.labels
    return labels === undefined
      ? (value) => enumNames?.numberOf.get(value as string) ?? 0
      : (value) => labels.fromLabel(value as string)
  },
  exact: (stored: unknown) => stored,
  reads: ({ enumNames }: Facets) => (enumNames?.labels === undefined ? ('all' as const) : undefined),
}

/** Bound and read as text. */
export const OF_DECIMAL = {
  value: (value: PlanValue, field: Facets): BoundValue => decimalText(value, field),
  encoder:
    (field: Facets): Encode =>
    (value) =>
      decimalText(value, field),
  decoder:
    (field: Facets): Decode =>
    (value) =>
      decimalOf(String(value), field),
  // A value that the property cannot hold is unset in the entity.
  exact: (stored: unknown, value: unknown, field: Facets) =>
    stored === null || stored === undefined ? value : exactDecimal(String(stored as string), field),
}

/** Of an engine without arrays. Repositories store JSON there. */
export const noArrays = (_: unknown, { list }: Facets): ManagedOtherwise | undefined =>
  list?.as === 'array'
    ? {
        what: 'cannot use a column with array: true on this database, which has no arrays',
        advice: "use @Column('simple-json')",
      }
    : undefined

/** `(10,2)`, or nothing if the column states no digits. */
export const digitsOf = ({ decimal }: Facets, unstated = ''): string =>
  decimal?.precision === undefined ? unstated : `(${decimal.precision},${decimal.scale ?? 0})`

export const OF_JSON = {
  encoder: ({ json }: Facets): Encode | undefined => json?.encode,
  decoder: ({ json }: Facets): Decode => json?.decode as Decode,
}

/** Digits that a property with a number holds exactly. */
export const NUMBER_DIGITS = 15

/** SQL of the labels of a column; undefined if it has none. */
export function labelsIn(
  { enumNames }: Facets,
  literal: (text: string) => string,
  sql: (labels: string) => string,
): string | undefined {
  const labels = enumNames?.labels
  return labels && sql([...labels.numberOf.keys()].map(literal).join(', '))
}

/** The regular expression of a list with commas between its elements; undefined if it may have any. */
export function listPattern(list: ListForm | undefined): string | undefined {
  if (list === undefined || (list.element.kind === 'string' && list.form === undefined)) return undefined
  const labels = [...(list.element.enumNames?.labels?.numberOf.keys() ?? [])].map(escaped)
  const element = labels.length > 0 ? `(${labels.join('|')})` : '[-+.0-9eE]+'
  return `^(${element}(,${element})*)?$`
}

const escaped = (label: string): string => label.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

export const OF_NUMBER = {
  ...READS.all,
  decoder: (): Decode => Number,
  inline: (value: string) => `+${value}`,
}
/** A property may hold the digits of an integer. Another writer's may be beyond its range. */
const ofInteger = (inRange: (value: number) => number, inline: (value: string) => string) => ({
  ...READS.some,
  decoder: ({ hasDigits }: Facets): Decode =>
    hasDigits === true
      ? String
      : (value) => {
          const number = Number(value)
          return inRange(number) === number ? number : undefined
        },
  encoder: ({ hasDigits }: Facets): Encode | undefined => (hasDigits === true ? Number : undefined),
  inline: (value: string) => `(${inline(value)} === +${value} ? +${value} : undefined)`,
  exact: numberUnlessRead,
})
export const OF_INT32 = ofInteger(
  (value) => value | 0,
  (value) => `(${value} | 0)`,
)
export const OF_UINT32 = ofInteger(
  (value) => value >>> 0,
  (value) => `(${value} >>> 0)`,
)

/** Of 0 and 1. */
export const OF_FLAG = {
  ...READS.some,
  decoder: (): Decode => (value) => (Number(value) === 1 ? true : Number(value) === 0 ? false : undefined),
  inline: (value: string) => `(+${value} === 1 ? true : +${value} === 0 ? false : undefined)`,
  exact: numberUnlessRead,
  holds: () => true,
}

function numberUnlessRead(stored: unknown, value: unknown): unknown {
  return stored === null || value !== undefined ? value : Number(stored)
}

const ofWide = (inRange: (value: bigint) => bigint) => ({
  ...READS.some,
  decoder: ({ hasDigits, inProperty }: Facets): Decode => {
    if (inProperty === 'number') return safeNumber
    // A key is read as it is stored.
    if (hasDigits === true && inProperty === undefined) return String
    return (value) => {
      const integer = BigInt(value as string)
      if (inRange(integer) !== integer) return undefined
      return hasDigits === true ? String(integer) : integer
    }
  },
  // An integer that the entity cannot hold is unset in it.
  exact: (stored: unknown, value: unknown) => (stored === null ? value : BigInt(stored as string)),
  readable: (column: string, { inProperty }: Facets) =>
    inProperty === 'number' ? `${column} BETWEEN -9007199254740991 AND 9007199254740991` : undefined,
})
export const OF_BIGINT = ofWide((value) => BigInt.asIntN(64, value))
export const OF_UNSIGNED_BIGINT = ofWide((value) => BigInt.asUintN(64, value))

/** @throws RangeError for an integer that a number does not hold exactly. */
function safeNumber(value: unknown): number {
  const number = Number(value)
  if (Number.isSafeInteger(number)) return number
  throw new RangeError('the integer is beyond 2^53-1, and the property is a number')
}

/** The most characters of a column whose names are declared without a length. */
export const ENUM_LENGTH = 255

/** Stands for the names of an enum that the field does not have. */
export const NO_NAMES: Partial<EnumNames> = {}

/** An entry whose values are bound by one function. */
export const boundBy = (entry: Omit<KindSql, 'encoder'> & Partial<Pick<KindSql, 'encoder'>>): KindSql => ({
  encoder: () => (value) => entry.value(value as PlanValue, {}),
  ...entry,
})
