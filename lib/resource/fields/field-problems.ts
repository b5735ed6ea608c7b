import type { DescField } from '@bufbuild/protobuf'
import type { ColumnOptions } from 'typeorm'
import { type Problem, propertyProblem } from '../../errors.js'
import { expectedType } from '../kinds/declared-kind.js'
import type { DeclaredPart } from '../facets/facets.js'
import { kindOf } from '../kinds/kinds.js'
import { isUnwrapped } from '../messages/local-field.js'
import { describeType, typeProblems } from './column-type.js'
import type { Field } from './field.js'
import { unstatedType } from './unstated-type.js'

/** Returns the problems of a field that do not concern its column, property or message field. */
export function fieldProblems(
  field: Field,
  column: ColumnOptions,
  inMessage: DescField | undefined,
  {
    designType,
    isKeyPart,
    isOfRelation,
    isEmbedded = false,
  }: DeclaredPart & { readonly isOfRelation: boolean; readonly isEmbedded?: boolean },
  isExisting: boolean,
): Problem[] {
  const { property, kind, collation } = field
  const { as, element } = field.list ?? {}
  const enumNames = field.enumNames ?? element?.enumNames
  const ofColumn = as === 'array' && element !== undefined ? element : field
  const problems = [...typeProblems(property, column, ofColumn.kind, isExisting)]
  // The column of a relation has the type of the referenced key, which is checked where it is declared.
  if (!isOfRelation && field.transformed === undefined)
    problems.push(
      ...unstatedType(field, {
        type: column.type,
        designType,
        isInMessage: inMessage !== undefined,
        isKeyPart,
      }),
    )
  const { isStoredAsText, declared } = kindOf(field)
  const hasCollation = (isStoredAsText || declared.holds === 'UUID') && field.stored === undefined
  if (collation !== undefined && !hasCollation)
    problems.push(
      propertyProblem(
        'column',
        property,
        `${property} is ${kind}, which has no collation`,
        'remove collation',
      ),
    )
  const labels = enumNames?.labels
  if (column.enum !== undefined && inMessage !== undefined && enumNames === undefined)
    problems.push(
      propertyProblem(
        'column',
        property,
        `${property}: the column option enum is not supported`,
        `${field.proto} of the message is ${kind}: make it an enum; or add @Internal(), so that Ashlar does not manage it`,
      ),
    )
  for (const [text, advice] of labels?.problems ?? [])
    problems.push(propertyProblem('column', property, `${property}: ${text}`, advice))
  const holdsLabel = labels !== undefined && (labels.isNumber ? Number : String) === designType
  const isOther =
    field.held !== undefined ||
    field.hasDigits === true ||
    field.inProperty !== undefined ||
    (holdsLabel && as === undefined)
  const held = field.transformed === undefined ? field : field.transformed.held
  const expected =
    isOther || held === undefined
      ? undefined
      : expectedType(held.kind, designType, held.repeated, field.json?.shape)
  if (expected !== undefined) {
    const isShared = typeof column.type === 'function' && column.type !== designType
    problems.push(
      propertyProblem(
        'column',
        property,
        `${property} is ${held?.kind}${inMessage === undefined ? '' : ' in the message'}`,
        `declare it as ${expected}, not ${describeType(designType)}${isShared ? '; or write a type in its @Column(): TypeORM keeps the type of the first column that shares an options object' : ''}`,
      ),
    )
  }
  const { precision, inProperty } = ofColumn.decimal ?? {}
  if (ofColumn.decimal !== undefined && precision === undefined && !isExisting)
    problems.push(
      propertyProblem(
        'column',
        property,
        `${property} is a decimal whose column states no precision`,
        "write them, as in @Column('decimal', { precision: 12, scale: 2 })",
      ),
    )
  if (inProperty === 'number' && precision !== undefined && precision > 15)
    problems.push(
      propertyProblem(
        'column',
        property,
        `${property} is a number, which holds 15 digits, but its column ${precision}`,
        'declare it as string, or state a precision of at most 15',
      ),
    )
  const tooLong = [...((labels ?? enumNames)?.numberOf.keys() ?? [])].find(
    (name) => name.length > (ofColumn.maxLength ?? Infinity),
  )
  if (tooLong !== undefined)
    problems.push(
      propertyProblem(
        'column',
        property,
        `${property}: ${tooLong} is longer than the ${ofColumn.maxLength ?? 0} characters of its column`,
      ),
    )
  const oneof = inMessage?.oneof
  const isScalar = inMessage !== undefined && (inMessage.fieldKind !== 'message' || isUnwrapped(inMessage))
  if ((oneof !== undefined || (isScalar && inMessage.presence === 1)) && !field.nullable)
    problems.push(
      propertyProblem(
        'column',
        property,
        oneof === undefined
          ? `${property} is optional in the message`
          : `${property} is in the oneof ${oneof.name}`,
        'its column must be nullable, as in @Column({ nullable: true })',
      ),
    )
  // NULL represents the value 0 if it has no label.
  const isUnsetLabel = labels !== undefined && !labels.labelOf.has(0)
  if (
    inMessage !== undefined &&
    inMessage.proto.proto3Optional !== true &&
    oneof === undefined &&
    !isEmbedded &&
    inMessage.fieldKind !== 'message' &&
    field.nullable &&
    !isUnsetLabel
  )
    problems.push(
      propertyProblem(
        'column',
        property,
        `${property} is not optional in the message, so it cannot distinguish absent from empty`,
        isExisting ? 'write optional in the .proto' : 'remove nullable, or write optional in the .proto',
      ),
    )
  return problems
}
