import { type DescField, type DescMessage, getOption } from '@bufbuild/protobuf'
import { FieldBehavior, field_behavior } from 'ashlar-annotations/google/api/field_behavior_pb.js'
import { fieldMarks } from '../behavior/field-marks.js'
import type { Column, Members } from './field.js'
import { kindOfMessageField, kindOfScalar } from '../kinds/declared-kind.js'
import { enumNamesOf } from '../enums/enum-names.js'
import { kindOf, KINDS } from '../kinds/kinds.js'
import { jsonColumnOf } from '../kinds/message-values.js'
import { shapeOfField } from '../free-form/shape.js'
import { enumeration } from '../kinds/text.js'

/**
 * Returns the parts of a JSON column that a filter can use: the fields of an embedded message, or the
 * elements of a list of scalars. Undefined for other fields.
 */
export const insideOf = (
  field: DescField,
  column: string,
): Pick<Column, 'members' | 'elements'> | undefined => {
  // The keys of free-form JSON are not declared.
  if (shapeOfField(field) !== undefined) return {}
  if (field.fieldKind === 'message') return { members: membersOf(field.message, column, []) }
  if (field.fieldKind !== 'list' || field.listKind === 'message') return undefined
  return {
    elements:
      field.listKind === 'enum'
        ? { kind: enumeration.name, enumNames: enumNamesOf(field.enum) }
        : { kind: kindOfScalar(field.scalar) },
  }
}

/** Returns the fields of a message. They are read on demand, because messages can be recursive. */
const membersOf = (message: DescMessage, column: string, outer: readonly string[]): Members => ({
  names: message.fields.map(({ name }) => name),
  of: (name) => {
    const field = message.fields.find((one) => one.name === name)
    return field && memberOf(field, column, outer)
  },
})

const memberOf = (field: DescField, column: string, outer: readonly string[]): Column | string => {
  const kind = kindOfMessageField(field)
  if (isHidden(field)) return 'cannot be filtered'
  if (field.fieldKind === 'list' || field.fieldKind === 'map')
    return `is ${field.fieldKind === 'list' ? 'repeated' : 'a map'}: ${ONLY}`
  if (typeof kind !== 'string' || !PLAIN_WORD.test(field.jsonName)) return 'cannot be filtered'
  const keys = [...outer, field.jsonName]
  if (shapeOfField(field) !== undefined)
    return { column, kind, nullable: true, json: jsonColumnOf(field), inside: { keys, zero: undefined } }
  if (field.fieldKind === 'message' && kindOf({ kind }).isNested)
    return {
      column,
      kind,
      nullable: true,
      inside: { keys, zero: undefined },
      members: membersOf(field.message, column, keys),
    }
  const { inside } = kindOf({ kind })
  if (inside === undefined) return `is ${kind}: ${ONLY}`
  const facets = field.fieldKind === 'enum' ? { enumNames: enumNamesOf(field.enum) } : {}
  const zero = field.presence === IMPLICIT ? inside.zero(facets) : undefined
  return { column, kind, nullable: true, inside: { keys, zero }, ...facets }
}

const COMPARED = Object.values(KINDS).flatMap(({ name, inside }) => (inside === undefined ? [] : name))
const ONLY = `inside a message, only ${COMPARED.slice(0, -1).join(', ')} and ${COMPARED.at(-1)} fields can be filtered`
/** The value of IMPLICIT in `google.protobuf.FeatureSet.FieldPresence`. */
const IMPLICIT = 2
/** Matches a key that needs no quoting in the JSON paths of any database. */
const PLAIN_WORD = /^[A-Za-z_]\w*$/

const isHidden = (field: DescField): boolean => {
  const behaviors = getOption(field, field_behavior)
  const { isSecret, isFilterable } = fieldMarks(field)
  if (behaviors.includes(FieldBehavior.INPUT_ONLY) || isSecret) return true
  return behaviors.includes(FieldBehavior.OUTPUT_ONLY) && !isFilterable
}
