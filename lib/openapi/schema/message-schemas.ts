import { type DescEnum, type DescField, type DescMessage } from '@bufbuild/protobuf'
import { FeatureSet_FieldPresence } from '@bufbuild/protobuf/wkt'
import { behaves, isImmutable } from '../../resource/behavior/field-behavior.js'
import { rulesSchema } from '../rules/rules-schema.js'
import type { JsonObject, OpenApiSource } from '../source/source.js'
import type { Comments } from '../source/comments.js'
import { described, listed } from '../source/markdown.js'
import { enumNames, keySchema, scalarSchema, wellKnownSchema } from './scalar-schema.js'
import { withStatus } from './status-schema.js'
import { type View, Views } from './views.js'

/** Names of fields that a schema omits. */
export type Without = ReadonlySet<string>

const REF = '#/components/schemas/'
const NONE: Without = new Set()

/** The schemas of messages and enums. Each gets a unique name when something first refers to it. */
export class MessageSchemas {
  readonly #source: OpenApiSource
  readonly #views: Views
  readonly #schemas = new Map<string, JsonObject>()

  constructor(source: OpenApiSource) {
    this.#source = source
    this.#views = new Views(source)
  }

  /** Returns all referenced schemas, sorted by name. */
  all(): Readonly<Record<string, JsonObject>> {
    return Object.fromEntries([...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  /** Returns the schema to which a reference refers. */
  behind(reference: string): JsonObject | undefined {
    return this.#schemas.get(reference.slice(REF.length))
  }

  /** Returns the schema of a message: a reference, or the special form of a well-known type. */
  message(desc: DescMessage, view: View): JsonObject {
    const special = wellKnownSchema(desc, view === 'input' || view === 'patch')
    if (special !== undefined) return special
    const reduced = this.#views.reduced(desc, view, (field) => this.#isRequired(field, 'input'))
    const plain = reduced === 'input' && this.#views.isRequestOnly(desc)
    return this.#ref(this.#views.nameOf(desc, plain ? 'output' : reduced), () => this.object(desc, reduced))
  }

  /**
   * Returns the inline schema of a message.
   * @param without - names of fields that are specified elsewhere.
   */
  object(desc: DescMessage, view: View, without = NONE): JsonObject {
    const fields = desc.fields.filter(({ name }) => !without.has(name))
    const properties = Object.fromEntries(fields.map((field) => [field.jsonName, this.field(field, view)]))
    const required = fields.filter((field) => this.#isRequired(field, view)).map(({ jsonName }) => jsonName)
    const isInput = view === 'input' || view === 'patch'
    const schema = {
      type: 'object',
      title: view === 'input' && this.#views.isRequestOnly(desc) ? desc.name : titleOf(desc, view),
      ...described(
        this.#source.comments.of(desc),
        ...choices(desc),
        ...(isInput ? this.#source.messageRulesOf(desc).map((text) => `Rule: ${text}.`) : []),
      ),
      ...(desc.deprecated && { deprecated: true }),
      properties,
      ...(required.length > 0 && { required }),
      ...(desc.oneofs.length > 0 && {
        'x-oneof': desc.oneofs.map((oneof) => oneof.fields.map(({ jsonName }) => jsonName)),
      }),
      ...this.#oneofs(desc, view, fields),
    }
    return withStatus(desc, schema, (detail) => this.object(detail, 'output'))
  }

  /** Returns the schema of a field's value, including its behavior and rules. */
  field(field: DescField, view: View): JsonObject {
    const isInput = view === 'input' || view === 'patch'
    const names = field.enum === undefined ? undefined : enumNames(field.enum)
    const rules = isInput ? rulesSchema(this.#source.rulesOf(field), names) : undefined
    const value = this.#value(field, view)
    const { description: special, ...rest } = value as { description?: string }
    const isSecret = this.#source.isSecret(field)
    const isReturnedOnce = this.#isCredential(field)
    const texts = described(
      this.#source.comments.of(field),
      special,
      ...(isImmutable(field) ? ['Set on create, and never changed.'] : []),
      ...(behaves(field, 'IDENTIFIER') ? ['Identifies the resource; the server sets it.'] : []),
      ...(isReturnedOnce ? ['Returned once, by the call that generates it; empty afterwards.'] : []),
      ...(isSecret && !isReturnedOnce ? ['Never returned.'] : []),
      ...(rules?.texts ?? []),
    )
    return {
      ...rest,
      ...(isInput ? this.#maxLength(field) : {}),
      ...rules?.schema,
      ...texts,
      ...((behaves(field, 'OUTPUT_ONLY') || isReturnedOnce) && { readOnly: true }),
      ...(isWriteOnly(field, isSecret && !isReturnedOnce) && { writeOnly: true }),
      ...(field.deprecated && { deprecated: true }),
    }
  }

  #value(field: DescField, view: View): JsonObject {
    const rules = this.#source.rulesOf(field)
    const isInput = view === 'input' || view === 'patch'
    if (field.fieldKind === 'list')
      return {
        type: 'array',
        items: { ...this.#item(field, view), ...(isInput ? rulesSchema(rules?.items).schema : {}) },
      }
    if (field.fieldKind !== 'map') return this.#item(field, view)
    const keys = { ...keySchema(field.mapKey), ...(isInput ? rulesSchema(rules?.keys).schema : {}) }
    return {
      type: 'object',
      ...(Object.keys(keys).length > 0 && { propertyNames: keys }),
      additionalProperties: {
        ...this.#item(field, view),
        ...(isInput ? rulesSchema(rules?.values).schema : {}),
      },
    }
  }

  #item(field: DescField, view: View): JsonObject {
    const isInput = view === 'input' || view === 'patch'
    if (field.enum !== undefined)
      return isInput ? this.#enumOrNumber(field, field.enum) : this.#enum(field.enum)
    if (field.message !== undefined) return this.message(field.message, this.#views.below(field, view))
    // A stored value is always finite.
    const isStored = this.#source.modelOf(field.parent)?.byProto.has(field.name) === true
    const isFinite = isStored || this.#source.rulesOf(field)?.set.get('finite') === true
    return scalarSchema(field.scalar, isFinite, isInput)
  }

  #enum(desc: DescEnum): JsonObject {
    if (desc.typeName === 'google.protobuf.NullValue') return { type: 'null' }
    return this.#ref(this.#views.nameOf(desc, 'output'), () => ({
      type: 'string',
      title: desc.name,
      ...described(this.#source.comments.of(desc), ...valueComments(desc, this.#source.comments)),
      enum: [...enumNames(desc).values()],
      ...(desc.deprecated && { deprecated: true }),
    }))
  }

  /** Returns the schema of an enum in a request, where protobuf's JSON also accepts numbers. */
  #enumOrNumber(field: DescField, desc: DescEnum): JsonObject {
    const names = this.#enum(desc)
    if (desc.typeName === 'google.protobuf.NullValue') return names
    const isKnown = !desc.open || this.#source.rulesOf(field)?.set.get('defined_only') === true
    const number = isKnown
      ? { type: 'integer', enum: [...enumNames(desc).keys()] }
      : { type: 'integer', format: 'int32' }
    return { anyOf: [names, number] }
  }

  #ref(name: string, make: () => JsonObject): JsonObject {
    if (!this.#schemas.has(name)) {
      // Registered before its fields are read, because messages can be recursive.
      this.#schemas.set(name, {})
      this.#schemas.set(name, make())
    }
    return { $ref: `${REF}${name}` }
  }

  #isRequired(field: DescField, view: View): boolean {
    if (view === 'masked' || view === 'patch') return false
    if (view === 'output') return isAlwaysWritten(field) && !isWriteOnly(field, this.#source.isSecret(field))
    if (!this.#views.isDemanded(field)) return false
    if (behaves(field, 'REQUIRED')) return true
    const names = field.enum === undefined ? undefined : enumNames(field.enum)
    const rules = this.#source.rulesOf(field)
    if (rules?.required === true) return true
    return isAlwaysWritten(field) && rulesSchema(rules, names).refusesZero
  }

  /**
   * Returns the constraints of oneofs: at most one member of each is set.
   * @param fields - the fields in the schema.
   */
  #oneofs({ oneofs }: DescMessage, view: View, fields: readonly DescField[]): JsonObject {
    const choices = oneofs.flatMap((oneof): JsonObject[] => {
      const members = oneof.fields.filter((field) => fields.includes(field))
      if (members.length === 0) return []
      const given = members.map(({ jsonName }) => ({ required: [jsonName] }))
      const isDemanded = view === 'input' && this.#source.isOneofRequired(oneof)
      const none = { properties: Object.fromEntries(members.map(({ jsonName }) => [jsonName, false])) }
      return [{ oneOf: isDemanded ? given : [...given, none] }]
    })
    const [only, ...others] = choices
    return only === undefined ? {} : others.length === 0 ? only : { allOf: choices }
  }

  #isCredential(field: DescField): boolean {
    const credentials = this.#source.modelOf(field.parent)?.credentials ?? []
    return credentials.some(({ proto }) => proto === field.name)
  }

  #maxLength(field: DescField): JsonObject {
    const maxLength = this.#source.modelOf(field.parent)?.byProto.get(field.name)?.maxLength
    return maxLength === undefined || field.fieldKind !== 'scalar' ? {} : { maxLength }
  }
}

/** Returns a title that distinguishes the views of a message for readers of the page. */
const titleOf = ({ name }: DescMessage, view: View): string =>
  view === 'output' ? name : `${name}${view.charAt(0).toUpperCase()}${view.slice(1)}`

const isWriteOnly = (field: DescField, isSecret: boolean): boolean => isSecret || behaves(field, 'INPUT_ONLY')

/** Returns true if responses contain the field even if it is zero. */
const isAlwaysWritten = (field: DescField): boolean =>
  field.oneof === undefined &&
  (field.fieldKind === 'list' ||
    field.fieldKind === 'map' ||
    field.presence === FeatureSet_FieldPresence.IMPLICIT ||
    field.presence === FeatureSet_FieldPresence.LEGACY_REQUIRED)

const choices = ({ oneofs }: DescMessage): readonly string[] =>
  oneofs.map(({ fields }) => `At most one of ${listed(fields.map(({ jsonName }) => jsonName))} is set.`)

const valueComments = ({ values }: DescEnum, comments: Comments): readonly string[] =>
  values.flatMap((value) => {
    const comment = comments.of(value)
    return comment === '' ? [] : [`\`${value.name}\`: ${comment}`]
  })
