import type { DescField } from '@bufbuild/protobuf'
import type { ColumnOptions, ValueTransformer } from 'typeorm'
import { kindOfColumn, kindOfProperty } from '../../lib/resource/kinds/declared-kind.js'
import { facetsOf } from '../../lib/resource/facets/facets.js'
import { kindOf } from '../../lib/resource/kinds/kinds.js'
import { ManagedValues, transformersOf, UnclearValues } from '../../lib/resource/kinds/managed.js'
import { snakeCase } from '../../lib/text/snake-case.js'

/** The declaration of a property with a column. */
export interface PropertyColumn {
  readonly property: string
  readonly isTags: boolean
  readonly designType: unknown
  readonly inMessage: DescField | undefined
  /** True if it is part of the key or contains another resource's key. */
  readonly isKeyPart: boolean
  /** True if the option `existing` is set. */
  readonly isOfTypeorm?: boolean
  /** The labels of `@EnumLabels()`. */
  readonly enumLabels?: Readonly<Record<string, string>> | undefined
  /** The options, including the declared type. */
  readonly options: ColumnOptions
}

/**
 * Adjusts a column for TypeORM's own manager. Returns the type that TypeORM uses instead of the declared one.
 * Returns undefined without an effect if the column cannot be stored, which the resource model reports.
 */
export function manageColumn(column: ColumnOptions, declared: PropertyColumn): ColumnOptions['type'] {
  const { property, isTags, isKeyPart, designType, inMessage, options } = declared
  const { type, array: isArray, unsigned: isUnsigned = false } = options
  const own = transformersOf(column)
  const name =
    own === undefined
      ? kindOfProperty({ isTags, isKeyPart, isUnsigned, isArray, type, designType, inMessage })
      : kindOfColumn(type, undefined)
  if (typeof name !== 'string') return undefined
  const kind = kindOf({ kind: name })
  const facets =
    own === undefined
      ? facetsOf(name, inMessage, options, declared)
      : facetsOf(name, undefined, options, { ...declared, designType: String, isTransformed: true })
  const reported = kind.managed.type(options.type, facets)
  const values = new ManagedValues(
    kind,
    { proto: inMessage?.name ?? snakeCase(property), ...facets },
    reported ?? options.type,
    [name, ...(own === undefined ? held(inMessage) : [])].join(' '),
  )
  if (own !== undefined) {
    column.transformer = [...own, values]
    return reported
  }
  const before = column.transformer as ValueTransformer | undefined
  if (before === undefined) column.transformer = values
  else if (before instanceof ManagedValues && before.holds !== values.holds)
    column.transformer = new UnclearValues(kind, values.field, reported, values.holds)
  return reported
}

/** Returns the properties that distinguish the values of fields of the same kind. */
const held = (field: DescField | undefined): readonly unknown[] =>
  field === undefined
    ? []
    : [
        field.fieldKind,
        field.scalar,
        field.message?.typeName,
        field.enum?.typeName,
        field.fieldKind === 'map' && field.mapKey,
      ]
