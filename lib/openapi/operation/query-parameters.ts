import type { DescField, DescMessage } from '@bufbuild/protobuf'
import { hasSpecialJson } from '../../gateway/json/any.js'
import type { Binding } from '../../gateway/routing/bindings.js'
import { speaksText } from '../../gateway/transcoding/query-binding.js'
import type { MessageSchemas } from '../schema/message-schemas.js'
import type { JsonObject, MethodFacts, OpenApiSource } from '../source/source.js'
import { fieldNote } from './field-notes.js'

/** The maximum number of parameters of one operation, because nested messages could have any number. */
const MAX_PARAMETERS = 200

/**
 * Returns the query parameters of a binding: every field that neither the path nor the body contains. Nested
 * fields have dots in their names.
 */
export function queryParameters(
  { method, bound }: Binding,
  facts: MethodFacts,
  schemas: MessageSchemas,
  source: OpenApiSource,
): readonly JsonObject[] {
  const parameters: JsonObject[] = []
  if (bound.body === '*') return parameters
  const walk = (desc: DescMessage, parents: readonly DescField[], on: ReadonlySet<DescMessage>): void => {
    const required = new Set((schemas.object(desc, 'input') as { required?: readonly string[] }).required)
    for (const field of desc.fields) {
      const name = [...parents, field].map((one) => one.name).join('.')
      if (bound.path.has(name) || (parents.length === 0 && field.name === bound.body)) continue
      if (parameters.length === MAX_PARAMETERS) return
      if (speaksText(field)) {
        const isTop = parents.length === 0
        const isMask = isTop && field.name === 'update_mask' && facts.verb === 'update'
        const note = isTop ? fieldNote(field, facts, source) : {}
        const isRequired = isMask || (isTop && required.has(field.jsonName))
        parameters.push(parameterOf(name, field, schemas, isRequired, note))
      } else if (isNested(field) && !on.has(field.message))
        walk(field.message, [...parents, field], new Set([...on, field.message]))
    }
  }
  walk(method.input, [], new Set([method.input]))
  return parameters
}

const isNested = (field: DescField): field is DescField & { readonly message: DescMessage } =>
  field.fieldKind === 'message' && !hasSpecialJson(field.message)

function parameterOf(
  name: string,
  field: DescField,
  schemas: MessageSchemas,
  isRequired: boolean,
  note: JsonObject,
): JsonObject {
  const {
    description,
    readOnly: _readOnly,
    writeOnly: _writeOnly,
    deprecated,
    ...schema
  } = schemas.field(field, 'input') as {
    description?: string
    readOnly?: boolean
    writeOnly?: boolean
    deprecated?: boolean
  }
  const { description: noted, ...keywords } = note as { description?: string }
  const text = [description, noted].filter((one) => one !== undefined).join(' ')
  return {
    name,
    in: 'query',
    ...(text !== '' && { description: text }),
    ...(isRequired && { required: true }),
    ...(deprecated === true && { deprecated }),
    ...(field.fieldKind === 'map' && { style: 'deepObject', explode: true }),
    schema: { ...schema, ...keywords },
  }
}
