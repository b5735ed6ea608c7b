import type { DescField, DescMessage } from '@bufbuild/protobuf'

/** A field by its proto or its JSON name. */
export function fieldByEitherName({ fields }: DescMessage, name: string): DescField | undefined {
  for (const field of fields) if (field.name === name) return field
  for (const field of fields) if (field.jsonName === name) return field
  return undefined
}

/** A path of a mask in both of its spellings: `address_line_2` and `addressLine2`. */
export interface MaskPath {
  readonly proto: string
  readonly json: string
}

/**
 * Finds a dotted path in either spelling. Behind a map comes a key, which is the same in both; behind a list
 * may come `*` (AIP-161). Undefined where the message has no such field.
 */
export function findMaskPath(message: DescMessage, path: string): MaskPath | undefined {
  const proto: string[] = []
  const json: string[] = []
  let inside: DescMessage | undefined = message
  let field: DescField | undefined
  for (const step of path.split('.')) {
    const isKey = field?.fieldKind === 'map' || (field?.fieldKind === 'list' && step === '*')
    if (isKey) {
      field = undefined
      proto.push(step)
      json.push(step)
      continue
    }
    field = inside && fieldByEitherName(inside, step)
    if (field === undefined) return undefined
    proto.push(field.name)
    json.push(field.jsonName)
    inside = field.message
  }
  return { proto: proto.join('.'), json: json.join('.') }
}
