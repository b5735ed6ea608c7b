import type { EnumNames } from '../../../resource/enums/enum-names.js'
import type { Field } from '../../../resource/fields/field.js'
import type { Element, EngineKind, Facets, KindName, ListForm, Range } from '../../../resource/kinds/kind.js'
import type { PlanColumn, PlanValue } from '../../query/query-plan.js'
import { decimalOf, decimalText, exactDecimal } from '../../../resource/kinds/fractions.js'
import { INT32, INT64, UINT32, UINT64 } from '../../../resource/kinds/integers.js'
import { kindOf, KINDS, ownOf } from '../../../resource/kinds/kinds.js'
import { StoredLiteral } from '../../../resource/kinds/stored-literal.js'
import type { BoundValue } from './bound-value.js'
import { storedDate } from './stored-time.js'

/** A field with a column. */
export type StoredField = Facets & { readonly proto: string }

/**
 * Converts an entity's value to the driver's. Not called for undefined and null, which are stored as NULL.
 */
export type Encode = (value: unknown) => unknown

/** Converts a stored value to an entity's. Not called for NULL. */
export type Decode = (value: unknown) => unknown

/** A difference between TypeORM's own manager and repositories. */
export interface ManagedOtherwise {
  /** The difference, as a predicate that follows "TypeORM's own manager". */
  readonly what: string
  readonly advice: string
}

/** Values that JSON can mostly contain as numbers, which are faster to read than strings. */
export interface Numbered {
  readonly number: string
  readonly text: string
  /** The condition for a number that is not exact. If one is not, all values of the page are strings. */
  readonly isInexact: string
}

/** A literal in a statement. */
export interface LiteralSql {
  readonly sql: string
  readonly value: BoundValue
}

/**
 * The SQL of one engine for one kind of column. Functions receive the field for facets such as a string's
 * length or an enum's names. Strings, including `column`, are SQL unless their comment says otherwise.
 */
export interface KindSql {
  /** Returns the column's type without its collation. */
  readonly type: (field: Facets) => string
  /** Returns the type as the catalog names it, if it differs. */
  readonly catalogType?: (field: Facets) => string
  /** Returns the type for passing many values in one statement, if it cannot be the column's own type. */
  readonly passedAs?: (field: Facets) => string | undefined
  /** Returns the constant for existing rows of a new column, if it is not the kind's. */
  readonly filler?: (field: Facets) => string | undefined
  /** True if the column has a collation. */
  readonly isText: boolean
  /** Returns the type of an array of values. Undefined if arrays cannot contain such values. */
  readonly arrayType?: (field: Facets) => string
  /**
   * Returns true if a column of that type, as the catalog names it, returns every value as it was written.
   */
  readonly keeps: (field: Facets, type: string) => boolean
  /**
   * Returns true if a column of that type, as the catalog names it, compares keys exactly and accepts all of
   * them. Returns undefined if the collation decides.
   */
  readonly exactAs?: (field: Facets, type: string) => boolean | undefined
  /**
   * Returns how a column of that type, as the catalog names it, changes values when it stores, sorts or
   * returns them. Returns undefined if it does not. Startup fails for an existing table with such a column.
   */
  readonly alteredBy?: (type: string, field: Facets) => string | undefined
  /**
   * Returns a function to the canonical string of a value. Undefined if the column itself compares
   * canonically.
   */
  readonly textOf?: (field: Facets) => ((value: string) => string) | undefined
  /**
   * Returns the condition for rows whose UUID is stored as a string in a different format, and the canonical
   * string. Undefined if the column cannot contain such rows.
   */
  readonly otherFormat?: (
    field: Facets,
    column: string,
  ) => { readonly condition: string; readonly canonical: string } | undefined
  /**
   * Returns a key as a string, for statements that store it in this form. Undefined if the engine converts it
   * implicitly.
   */
  readonly keyText?: (column: string, field: Facets) => string
  /** The engine's range, if it is smaller than the kind's. */
  readonly range?: Range

  /**
   * Returns the placeholder of a value. `index` is the number of the statement's parameter, starting at 1.
   */
  readonly placeholder: (column: Pick<PlanColumn, 'inside'>, index: number) => string
  /** Converts a plan's value to the stored form, for filters and writes alike. */
  readonly value: (value: PlanValue, column: Pick<PlanColumn, 'inside' | 'stored' | 'decimal'>) => BoundValue
  /** Returns undefined if values are bound unchanged. */
  readonly encoder: (field: StoredField) => Encode | undefined
  /**
   * Converts a key for lookups, if the column cannot hold every key. Such a key matches no row. Undefined if
   * keys are bound as for writes.
   */
  readonly keyEncoder?: Encode

  /** Returns the SELECT expression that the decoder expects. */
  readonly selected: (column: string, alias: string, field: Facets) => string
  /**
   * Returns the SELECT expression for rows that are combined into one string. Undefined if the engine cannot
   * combine them.
   */
  readonly gathered?: (column: string, field: Facets) => string
  /** Returns the SQL for values that JSON may contain as numbers. Undefined if they are not converted. */
  readonly numbered?: (name: string) => Numbered
  /**
   * Returns `all` if the decoder accepts every value, or `some` if it returns undefined for others. Undefined
   * if it may throw.
   */
  readonly reads?: (field: Facets) => 'all' | 'some' | undefined
  /** Returns a decoder. It returns undefined or throws for a value that the entity cannot represent. */
  readonly decoder: (field: StoredField) => Decode
  /**
   * Returns the condition for a stored, non-NULL value that the entity can represent. Undefined if it can
   * represent all. A full update preserves other values if the field is unset.
   */
  readonly readable?: (column: string, field: Facets) => string | undefined
  /**
   * Returns JavaScript that decodes the value of a JavaScript expression inline. Undefined if a function call
   * is faster.
   */
  readonly inline?: (value: string) => string

  /**
   * Returns how TypeORM's own manager, with these DataSource options, reads and writes the column
   * differently. Undefined if it never does.
   *
   * @param isExisting - true if TypeORM has the column as declared.
   */
  readonly managed?: (
    options: Readonly<Record<string, unknown>>,
    field: Facets,
    isExisting: boolean,
  ) => ManagedOtherwise | undefined

  /** Returns the size of a value in bytes. Undefined if it is the size of its string. */
  readonly byteLength?: (column: string) => string

  /** The constant for the zero value, if it is not a number, boolean or string. */
  readonly zero?: string

  /**
   * Returns the column for sort orders and for comparisons other than equality, if its type sorts
   * differently. Undefined if it does not.
   */
  readonly ordered?: (column: string, field: Facets) => string | undefined
  /** Returns the first characters or bytes of a column. */
  readonly beginning: (column: string, length: number) => string
  /**
   * Returns a field of a message that is stored as JSON. NULL if it is missing or of a different type.
   * Undefined if it cannot be compared.
   */
  readonly inside?: (column: string, keys: readonly string[]) => string
  /**
   * Returns the exact stored value for a cursor. The value of another writer may be more precise than the
   * entity's. A cursor with the entity's value would then repeat the row or skip others. Undefined if the
   * entity's value is always exact.
   */
  readonly exact?: (stored: unknown, value: unknown, field: Facets) => unknown
  /**
   * Returns the first and last stored value that is read as this time, which is truncated to the millisecond.
   */
  readonly millisecond?: (time: Date) => readonly [first: BoundValue, last: BoundValue]
  /**
   * The SQL of a stored value that the field cannot hold, and what it binds. Undefined if no such column
   * contains it. @param index - of the next parameter, from 1.
   */
  readonly literal?: (value: StoredLiteral, index: number) => LiteralSql | undefined
  /** Returns true if a column can hold this value of another writer. Undefined if it holds no such values. */
  readonly holds?: (value: unknown) => boolean
}

/** The SQL of all kinds. `any` is a column of unknown type, which resources do not have. */
export type KindsSql = Readonly<Record<KindName | 'any', KindSql>>

/** Completes an engine's entries with the kinds that are stored as another kind. */
export const kindsSqlOf = <T extends KindSql>(
  entries: Readonly<Record<EngineKind | 'any', T>>,
): Readonly<Record<KindName | 'any', T>> => ({
  ...entries,
  ...(Object.fromEntries(
    Object.values(KINDS).flatMap(({ name, storedAs }) =>
      storedAs === undefined ? [] : [[name, entries[storedAs]]],
    ),
  ) as Record<Exclude<KindName, EngineKind>, T>),
})

/** The part of a dialect that concerns kinds. */
export interface OfKinds {
  readonly values: { readonly kinds: KindsSql }
}

/**
 * Returns the encoder of a field's values. It produces the same form as filters, so that both match the same
 * rows.
 */
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

/** Returns the encoder of a key for lookups. */
export const keyEncoderOf = (
  field: StoredField & { readonly kind: KindName },
  { values: { kinds } }: OfKinds,
): Encode | undefined => kinds[field.kind].keyEncoder ?? kinds[field.kind].encoder(field)

/** Entries that several engines share. */
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
  // `infinity` and zero dates are sorted as they are stored.
  exact: (stored: unknown) => stored,
}

/**
 * A name that a different version of the message defines is read as the zero value but sorted by its stored
 * value. A label that the message does not define is unset in the entity.
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

/** Decimals are bound and read as strings. */
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
  // A value that the property cannot represent is unset in the entity.
  exact: (stored: unknown, value: unknown, field: Facets) =>
    stored === null || stored === undefined ? value : exactDecimal(String(stored as string), field),
}

/** Describes the difference on engines without arrays, where repositories store the list as JSON. */
export const noArrays = (_: unknown, { list }: Facets): ManagedOtherwise | undefined =>
  list?.as === 'array'
    ? {
        what: 'cannot use a column with array: true on this database, which has no arrays',
        advice: "use @Column('simple-json')",
      }
    : undefined

/** Returns the precision and scale such as `(10,2)`, or an empty string if the column has none. */
export const digitsOf = ({ decimal }: Facets, unstated = ''): string =>
  decimal?.precision === undefined ? unstated : `(${decimal.precision},${decimal.scale ?? 0})`

export const OF_JSON = {
  encoder: ({ json }: Facets): Encode | undefined => json?.encode,
  decoder: ({ json }: Facets): Decode => json?.decode as Decode,
}

/** The number of decimal digits that a JavaScript number represents exactly. */
export const NUMBER_DIGITS = 15

/** Returns the labels of an enum column as SQL, or undefined if it has none. */
export function labelsIn(
  { enumNames }: Facets,
  literal: (text: string) => string,
  sql: (labels: string) => string,
): string | undefined {
  const labels = enumNames?.labels
  return labels && sql([...labels.numberOf.keys()].map(literal).join(', '))
}

/**
 * Returns the regular expression of a comma-separated list, or undefined if its elements can be any string.
 */
export function listPattern(list: ListForm | undefined): string | undefined {
  if (list === undefined || (list.element.kind === 'string' && list.form === undefined)) return undefined
  const labels = [...(list.element.enumNames?.labels?.numberOf.keys() ?? [])].map(escaped)
  const element = labels.length > 0 ? `(${labels.join('|')})` : '[-+.0-9eE]+'
  return `^(${element}(,${element})*)?$`
}

/** Returns the JSON types of a list's elements, in the terms of an engine. */
export function jsonTypesOf(
  element: Element,
  {
    text,
    booleans,
    integers,
    fractions,
  }: Readonly<Record<'text' | 'booleans' | 'integers' | 'fractions', string>>,
): string {
  switch (kindOf(element).declared.family) {
    case 'booleans':
      return booleans
    case 'integers':
      return `${integers}, ${text}`
    case 'fractions':
    case 'decimals':
      return `${fractions}, ${text}`
    default:
      return element.kind === 'enum' ? `${integers}, ${text}` : text
  }
}

const escaped = (label: string): string => label.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

export const OF_NUMBER = {
  ...READS.all,
  decoder: (): Decode => Number,
  inline: (value: string) => `+${value}`,
}

/** A wider column may hold other values, of which the nearest is read. */
export const exactFloat = (stored: number): unknown =>
  Object.is(Math.fround(stored), stored) ? stored : StoredLiteral.of(String(stored))
/** A property may hold the digits of an integer. Another writer's may be beyond its range. */
const ofInteger = (
  range: readonly [number, number],
  inRange: (value: number) => number,
  inline: (value: string) => string,
) => ({
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
  readable: (column: string) => `${column} BETWEEN ${range[0]} AND ${range[1]}`,
})
export const OF_INT32 = ofInteger(
  INT32,
  (value) => value | 0,
  (value) => `(${value} | 0)`,
)
export const OF_UINT32 = ofInteger(
  UINT32,
  (value) => value >>> 0,
  (value) => `(${value} >>> 0)`,
)

/** Booleans that are stored as 0 and 1. */
export const OF_FLAG = {
  ...READS.some,
  decoder: (): Decode => (value) => (Number(value) === 1 ? true : Number(value) === 0 ? false : undefined),
  inline: (value: string) => `(+${value} === 1 ? true : +${value} === 0 ? false : undefined)`,
  exact: numberUnlessRead,
  readable: (column: string) => `${column} IN (0, 1)`,
}

function numberUnlessRead(stored: unknown, value: unknown): unknown {
  return stored === null || value !== undefined ? value : StoredLiteral.of(String(stored as number | string))
}

const ofWide = (range: readonly [bigint, bigint], inRange: (value: bigint) => bigint) => ({
  ...READS.some,
  decoder: ({ hasDigits, inProperty }: Facets): Decode => {
    if (inProperty === 'number') return (value) => safeNumber(value, range)
    // A key is read as it is stored.
    if (hasDigits === true && inProperty === undefined) return String
    return (value) => {
      const integer = integerIn(value)
      if (integer === undefined || inRange(integer) !== integer) return undefined
      return hasDigits === true ? String(integer) : integer
    }
  },
  readable: (column: string, field: Facets) => inIntegers(column, field.range ?? range),
  // An integer that the entity cannot hold is unset in it.
  exact: (stored: unknown, value: unknown) => {
    if (stored === null) return value
    const integer = integerIn(stored)
    return integer !== undefined && inRange(integer) === integer
      ? integer
      : StoredLiteral.of(String(stored as string))
  },
})
const INTEGER = /^-?\d+$/

const inIntegers = (column: string, [least, most]: Range): string =>
  `${column} BETWEEN ${least} AND ${most} AND ${column} % 1 = 0`

/** Undefined for a fraction, and for a value of another type. */
const integerIn = (value: unknown): bigint | undefined =>
  typeof value === 'number' || INTEGER.test(value as string) ? BigInt(value as string) : undefined

export const OF_BIGINT = ofWide(INT64, (value) => BigInt.asIntN(64, value))
export const OF_UNSIGNED_BIGINT = ofWide(UINT64, (value) => BigInt.asUintN(64, value))

/** Undefined for an integer that a number does not hold exactly. */
function safeNumber(value: unknown, [least]: readonly [bigint, bigint]): number | undefined {
  const number = Number(integerIn(value))
  return Number.isSafeInteger(number) && number >= least ? number : undefined
}

/** The maximum length of an enum column without a declared length. */
export const ENUM_LENGTH = 255

/** Stands in for the names of an enum if the field has none. */
export const NO_NAMES: Partial<EnumNames> = {}

/** Returns an entry whose encoder binds values in the same way as filters. */
export const boundBy = (entry: Omit<KindSql, 'encoder'> & Partial<Pick<KindSql, 'encoder'>>): KindSql => ({
  encoder: () => (value) => entry.value(value as PlanValue, {}),
  ...entry,
})
