import type { DescField, DescMessage } from '@bufbuild/protobuf'
import { fieldNamed } from './field-readers.js'

/** The message that a read mask applies to (AIP-157): the items of a list, or the response itself. */
export interface Readable {
  readonly message: DescMessage
  /** The repeated field that contains the items; undefined if the response is the resource. */
  readonly items: DescField | undefined
}

/**
 * Returns the readable message of a response. A response with one repeated message field, alone or with
 * `next_page_token`, is a list.
 */
export const readableOf = (output: DescMessage): Readable => {
  const items = output.fields.filter((field) => field.fieldKind === 'list' && field.listKind === 'message')
  const rest = output.fields.length - items.length
  const isList = items.length === 1 && (rest === 0 || fieldNamed(output, 'next_page_token') !== undefined)
  const field = isList ? items[0] : undefined
  return { message: field?.message ?? output, items: field }
}
