import { type DescField, type DescMessage, type DescOneof, getOption, hasOption } from '@bufbuild/protobuf'
import { reflect } from '@bufbuild/protobuf/reflect'
import type * as Validate from 'ashlar-annotations/buf/validate/validate_pb.js'
import type { DeclaredRules } from '../../openapi/rules/declared-rules.js'
import type { Local } from '../../resource/messages/local-field.js'

/** The `buf.validate` rules of fields and messages. */
export interface RuleFacts {
  readonly ofField: (field: DescField) => DeclaredRules | undefined
  /** Rules of the message itself and of its oneofs, as sentences. */
  readonly ofMessage: (message: DescMessage) => readonly string[]
  /** True if one member of the oneof must be set. */
  readonly isRequired: (oneof: DescOneof) => boolean
}

/** Loads the reader of the rules, which a server only needs for its API document. */
export const loadRuleFacts = async (): Promise<RuleFacts> => {
  const rules = await import('ashlar-annotations/buf/validate/validate_pb.js')
  const known = new Map<DescField, DeclaredRules | undefined>()
  const ofField = (field: DescField): DeclaredRules | undefined => {
    if (!known.has(field))
      known.set(
        field,
        hasOption(field, rules.field) ? declared(getOption(field, rules.field), rules) : undefined,
      )
    return known.get(field)
  }
  const isRequired = (oneof: DescOneof): boolean =>
    hasOption(oneof, rules.oneof) && getOption(oneof, rules.oneof).required
  const ofMessage = (message: DescMessage): readonly string[] => [
    ...(hasOption(message, rules.message)
      ? [
          ...getOption(message, rules.message).cel.map(reported),
          ...getOption(message, rules.message).oneof.map(
            ({ fields, required }) =>
              `${required ? 'exactly' : 'at most'} one of ${fields.join(', ')} is set`,
          ),
        ]
      : []),
    ...message.oneofs
      .filter(isRequired)
      .map(({ fields }) => `one of ${fields.map(({ name }) => name).join(', ')} must be set`),
  ]
  return { ofField, ofMessage, isRequired }
}

const declared = (field: Validate.FieldRules, rules: typeof Validate): DeclaredRules => {
  const { type, required, ignore, cel } = field
  const { Ignore } = rules
  const shared = {
    required,
    ignore: ignore === Ignore.ALWAYS ? 'always' : ignore === Ignore.IF_ZERO_VALUE ? 'if zero' : 'never',
    expressions: cel.map(reported),
  } as const
  if (type.case === undefined) return { ...shared, kind: undefined, set: new Map() }
  const reflected = reflect(rules.FieldRulesSchema, field)
  const of = rules.FieldRulesSchema.field[type.case]
  const inside = reflected.get(of) as ReturnType<typeof reflect>
  const set = new Map(
    inside.fields
      .filter((one) => inside.isSet(one))
      .map((one) => [one.name, plain((type.value as Local)[valueName(one)], one)]),
  )
  const nested = (one: Validate.FieldRules | undefined) => one && declared(one, rules)
  const items = type.case === 'repeated' ? nested(type.value.items) : undefined
  const keys = type.case === 'map' ? nested(type.value.keys) : undefined
  const values = type.case === 'map' ? nested(type.value.values) : undefined
  return {
    ...shared,
    kind: type.case,
    set,
    ...(items && { items }),
    ...(keys && { keys }),
    ...(values && { values }),
  }
}

const valueName = ({ localName, oneof }: DescField): string => oneof?.localName ?? localName

/** Returns a rule's value. The value of a oneof is unwrapped, and a message is returned in its JSON form. */
const plain = (value: unknown, { oneof, message }: DescField): unknown => {
  const own = oneof === undefined ? value : (value as { readonly value?: unknown }).value
  return message === undefined ? own : JSON.parse(JSON.stringify(own, withoutTypes))
}

const withoutTypes = (key: string, value: unknown): unknown =>
  key === '$typeName' || key === '$unknown' ? undefined : typeof value === 'bigint' ? String(value) : value

const reported = ({ id, message, expression }: Validate.Rule): string =>
  message !== '' ? message : `${id === '' ? '' : `${id}: `}\`${expression}\``
