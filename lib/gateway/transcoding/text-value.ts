import { type DescField, ScalarType } from '@bufbuild/protobuf'
import { isWrapperDesc } from '@bufbuild/protobuf/wkt'
import type { Json } from '../json/parse.js'

/** The JSON value of a path segment or query value, as the field's reader expects it. */
export function textValue(field: DescField, text: string): Json {
  if (field.enum !== undefined) return /^-?[0-9]+$/.test(text) ? Number(text) : text
  const { message } = field
  const scalar = message !== undefined && isWrapperDesc(message) ? message.fields[0].scalar : field.scalar
  return scalar === ScalarType.BOOL ? boolean(text) : text
}

const boolean = (text: string): Json => (text === 'true' ? true : text === 'false' ? false : text)
