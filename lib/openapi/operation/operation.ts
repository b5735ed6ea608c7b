import type { Binding } from '../../gateway/routing/bindings.js'
import type { Examples } from '../schema/examples.js'
import type { MessageSchemas } from '../schema/message-schemas.js'
import type { JsonObject, OpenApiSource } from '../source/source.js'
import { described, words } from '../source/markdown.js'
import { requestContent } from './bodies.js'
import { parametersOf } from './parameters.js'
import type { OpenApiPath } from './path-text.js'
import { contentOf, responsesOf } from './responses.js'

/** The parts that operations share. */
export interface Describing {
  readonly source: OpenApiSource
  readonly schemas: MessageSchemas
  readonly examples: Examples
}

/** Returns the operation of a binding. */
export function operationOf(
  binding: Binding,
  path: OpenApiPath,
  operationId: string,
  { source, schemas, examples }: Describing,
): JsonObject {
  const { method } = binding
  const facts = source.factsOf(method)
  const content = requestContent(binding, schemas)
  const parameters = parametersOf(binding, path, facts, schemas, source)
  return {
    tags: [method.parent.typeName],
    summary: words(method.name),
    ...described(source.comments.of(method)),
    operationId,
    ...(method.deprecated && { deprecated: true }),
    parameters,
    ...(content && {
      requestBody: {
        ...(needsBody(content.schema) && { required: true }),
        content: contentOf([content], examples),
      },
    }),
    responses: responsesOf(binding, facts, schemas, examples, source),
    ...(facts.isPublic && { security: [] }),
  }

  /** Returns true if a request must have a body. Without one, every field has its zero value. */
  function needsBody(schema: JsonObject | undefined): boolean {
    if (binding.body === undefined || schema === undefined) return false
    if (binding.body !== '*') return true
    const { $ref } = schema as { readonly $ref?: string }
    return ($ref === undefined ? schema : (schemas.behind($ref) ?? {}))['required'] !== undefined
  }
}
