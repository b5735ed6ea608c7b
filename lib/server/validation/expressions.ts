import {
  create,
  createFileRegistry,
  type DescExtension,
  type DescField,
  type DescMessage,
  type DescService,
  getOption,
  hasOption,
  type Message,
  setExtension,
} from '@bufbuild/protobuf'
import { reflect } from '@bufbuild/protobuf/reflect'
import { FileDescriptorProtoSchema, MessageOptionsSchema } from '@bufbuild/protobuf/wkt'
import type * as Rules from 'ashlar-annotations/buf/validate/validate_pb.js'
import { filesOf } from './ruled-part.js'
import { withFields } from './named-fields.js'

/** A CEL expression and the place of its declaration. */
export interface Expression {
  readonly at: string
  readonly id: string
  readonly text: string
  /** The type of `this`, if it is a message with fields. */
  readonly self: DescMessage | undefined
}

/** Returns the expressions of the messages' rules and of the services' predefined rules. */
export const expressionsOf = (
  messages: Iterable<DescMessage>,
  services: readonly DescService[],
  rules: typeof Rules,
): Expression[] => {
  const found: Expression[] = []
  const collect = (at: string, options: Message, desc: DescMessage, self?: DescMessage): void => {
    for (const message of ruleMessages(desc, options)) {
      if (message.$typeName === rules.RuleSchema.typeName) {
        const { id, expression } = message as Rules.Rule
        found.push({ at, id, text: expression, self })
      }
      for (const text of (message as { readonly celExpression?: readonly string[] }).celExpression ?? [])
        found.push({ at, id: text, text, self })
    }
  }
  for (const desc of messages) {
    if (hasOption(desc, rules.message))
      collect(desc.typeName, getOption(desc, rules.message), rules.MessageRulesSchema, withFields(desc))
    for (const field of desc.fields)
      if (hasOption(field, rules.field))
        collect(nameOf(field), getOption(field, rules.field), rules.FieldRulesSchema, selfOf(field))
  }
  for (const extension of predefinedIn(services, rules))
    collect(extension.typeName, getOption(extension, rules.predefined), rules.PredefinedRulesSchema)
  return found
}

/** Returns the rules that the services' files add to `buf.validate`. */
export const predefinedIn = (services: readonly DescService[], rules: typeof Rules): DescExtension[] =>
  [...filesOf(services)].flatMap(({ extensions }) =>
    extensions.filter((extension) => hasOption(extension, rules.predefined)),
  )

const selfOf = (field: DescField): DescMessage | undefined =>
  field.fieldKind === 'message' ? withFields(field.message) : undefined

const nameOf = (field: DescField): string => `${field.parent.typeName}.${field.name}`

/** Returns a message and all messages nested in it. */
function* ruleMessages(desc: DescMessage, message: Message): Generator<Message> {
  yield message
  const reflected = reflect(desc, message)
  for (const field of reflected.fields) {
    if (!reflected.isSet(field)) continue
    if (field.fieldKind === 'message') yield* ruleMessages(field.message, reflected.get(field).message)
    if (field.fieldKind === 'list' && field.listKind === 'message')
      for (const { message: one } of reflected.get(field) as Iterable<{ readonly message: Message }>)
        yield* ruleMessages(field.message, one)
  }
}

/**
 * Returns a message type for each expression, with the expression as its only rule. A validator compiles
 * expressions one at a time, and never those of an unset field.
 */
export const probesOf = (expressions: readonly Expression[], rules: typeof Rules): DescMessage[] => {
  const file = create(FileDescriptorProtoSchema, {
    name: 'ashlar_probes.proto',
    package: 'ashlar.probes',
    syntax: 'proto3',
    messageType: expressions.map(({ id, text }, index) => {
      const options = create(MessageOptionsSchema)
      const cel = [{ id: id || 'rule', expression: text }]
      setExtension(options, rules.message, create(rules.MessageRulesSchema, { cel }))
      return { name: `Probe${index}`, options }
    }),
  })
  const registry = createFileRegistry(file, () => undefined)
  return expressions.map((_one, index) => registry.getMessage(`ashlar.probes.Probe${index}`) as DescMessage)
}
