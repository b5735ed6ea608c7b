import { type DescField, type DescMessage, getOption } from '@bufbuild/protobuf'
import { FieldBehavior, field_behavior } from 'ashlar-annotations/google/api/field_behavior_pb.js'
import { fieldMarks } from '../behavior/field-marks.js'
import { enumNamesOf } from './enum-names.js'
import type { Column, FieldKind, Members } from './field.js'
import { kindOfMessageField } from './field-kind.js'

/**
 * What a filter can ask of a JSON column: the fields of an embedded message, or what a list of scalars holds. Undefined for any
 * other, which has neither.
 */
export const insideOf = (
  field: DescField,
  column: string,
): Pick<Column, 'members' | 'elements'> | undefined => {
  if (field.fieldKind === 'message') return { members: membersOf(field.message, column, []) }
  if (field.fieldKind !== 'list' || field.listKind === 'message') return undefined
  return {
    elements:
      field.listKind === 'enum'
        ? { kind: 'enum', enumNames: enumNamesOf(field.enum) }
        : { kind: elementKind(field) },
  }
}

/** A scalar of a list is stored as one that stands alone. */
const elementKind = (field: DescField & { fieldKind: 'list'; listKind: 'scalar' }): FieldKind =>
  kindOfMessageField({ ...field, fieldKind: 'scalar' } as never) as FieldKind

/** A message may hold itself, so that its fields are looked at when they are asked for. */
const membersOf = (message: DescMessage, column: string, outer: readonly string[]): Members => ({
  names: message.fields.map(({ name }) => name),
  of: (name) => {
    const field = message.fields.find((one) => one.name === name)
    return field && memberOf(field, column, outer)
  },
})

const COMPARED: ReadonlySet<FieldKind> = new Set(['string', 'bool', 'enum', 'int32', 'double'])

const memberOf = (field: DescField, column: string, outer: readonly string[]): Column | string => {
  const kind = kindOfMessageField(field)
  if (isHidden(field)) return 'cannot be filtered'
  if (field.fieldKind === 'list' || field.fieldKind === 'map')
    return `is ${field.fieldKind === 'list' ? 'repeated' : 'a map'}: ${ONLY}`
  if (typeof kind !== 'string' || !PLAIN_WORD.test(field.jsonName)) return 'cannot be filtered'
  const keys = [...outer, field.jsonName]
  if (kind === 'json')
    return {
      column,
      kind,
      nullable: true,
      inside: { keys, zero: undefined },
      members: membersOf(field.message as DescMessage, column, keys),
    }
  if (!COMPARED.has(kind)) return `is ${kind}: ${ONLY}`
  const enumNames = field.fieldKind === 'enum' ? enumNamesOf(field.enum) : undefined
  const zero =
    field.presence === IMPLICIT ? (kind === 'enum' ? enumNames?.nameOf.get(0) : ZERO[kind]) : undefined
  return { column, kind, nullable: true, inside: { keys, zero }, ...(enumNames && { enumNames }) }
}

const ONLY = 'of what is inside of a message, string, bool, enum, int32 and double are filtered'
/** Of `google.protobuf.FeatureSet.FieldPresence`. */
const IMPLICIT = 2
const ZERO: Readonly<Partial<Record<FieldKind, string | number | boolean>>> = {
  string: '',
  bool: false,
  int32: 0,
  double: 0,
}
/** A key that the paths of every database spell alike. */
const PLAIN_WORD = /^[A-Za-z_]\w*$/

const isHidden = (field: DescField): boolean => {
  const behaviors = getOption(field, field_behavior)
  const { isSecret, isFilterable } = fieldMarks(field)
  if (behaviors.includes(FieldBehavior.INPUT_ONLY) || isSecret) return true
  return behaviors.includes(FieldBehavior.OUTPUT_ONLY) && !isFilterable
}
