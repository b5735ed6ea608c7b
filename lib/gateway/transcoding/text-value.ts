import { type DescField, ScalarType } from '@bufbuild/protobuf'
import { isWrapperDesc } from '@bufbuild/protobuf/wkt'
import type { Json } from '../json/parse.js'

/** Converts a path segment or query value to JSON, for the field's reader. */
export function textValue(field: DescField, text: string): Json {
  if (field.enum !== undefined) return /^-?[0-9]+$/.test(text) ? Number(text) : text
  const { message } = field
  const scalar = message !== undefined && isWrapperDesc(message) ? message.fields[0].scalar : field.scalar
  return scalar === ScalarType.BOOL ? boolean(text) : text
}

const boolean = (text: string): Json => (text === 'true' ? true : text === 'false' ? false : text)
