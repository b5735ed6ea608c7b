import type { DescField } from '@bufbuild/protobuf'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { JsonObject, MethodFacts, OpenApiSource } from '../source/source.js'
import { listed } from '../source/markdown.js'

/**
 * Returns a description of how the framework treats a request field with a well-known name; empty for any
 * other field.
 */
export function fieldNote({ name }: DescField, facts: MethodFacts, source: OpenApiSource): JsonObject {
  const { resource, standard } = facts
  const model = resource && source.modelOf(resource)
  switch (name) {
    case 'update_mask':
      return { description: updateMask(model, source) }
    case 'read_mask':
      return {
        description: 'The fields to return. Default: all fields.',
      }
    case 'validate_only':
      return { description: 'Checks the request and changes nothing.' }
    case 'request_id':
      return { description: 'The same as the header `Idempotency-Key`.' }
    case 'etag':
      return facts.comparesEtags ? { description: 'The expected etag, like the header `If-Match`.' } : {}
    default:
      return standard === 'list' ? listNote(name, model, source) : {}
  }
}

function listNote(name: string, model: ResourceModel | undefined, source: OpenApiSource): JsonObject {
  const { pageSizes } = source
  const fields = model === undefined ? '' : `Fields: ${listed(Object.keys(model.columns))}.`
  const relations = model === undefined ? [] : source.relationsOf(model)
  switch (name) {
    case 'page_size':
      return {
        description: `Items per page: ${pageSizes.usual} by default, and ${pageSizes.most} at most.`,
        default: pageSizes.usual,
      }
    case 'page_token':
      return { description: 'The `nextPageToken` of the previous page. Keep all other parameters the same.' }
    case 'filter':
      return {
        description:
          `A filter on the listed items (AIP-160), such as \`a = "x" AND b > 1\`. ${fields}${through(relations)}`.trim(),
      }
    case 'order_by':
      return {
        description:
          `Fields separated by commas, each optionally followed by \`desc\` (AIP-132). ${fields}${through(relations.filter(({ isMany }) => !isMany))}`.trim(),
      }
    case 'show_deleted':
      return { description: 'Also lists deleted items.' }
    case 'q':
      return { description: 'Text to search for.' }
    default:
      return {}
  }
}

/** Describes the relations that may precede a field in a filter. */
const through = (relations: readonly { readonly name: string }[]): string =>
  relations.length === 0
    ? ''
    : ` Fields of other resources that the caller may list, after a dot: ${listed(relations.map(({ name }) => `${name}.`))}.`

const FORMS = {
  spec: 'Paths in another form are ignored, and reported in the header `X-Ignored-Update-Mask`.',
  strict: 'Paths in another form are rejected.',
  normalize: 'Paths in other forms are converted.',
} as const

function updateMask(model: ResourceModel | undefined, { updateMask: mode }: OpenApiSource): string {
  const names =
    model === undefined ? '' : ` One or more of ${listed([...model.writable].sort())}, or \`*\` for all.`
  return `The fields to write, by proto name.${names} ${FORMS[mode]}`
}
