import type { DescField, DescMessage, Message } from '@bufbuild/protobuf'
import { hasSpecialJson } from '../json/any.js'
import { fieldByEitherName } from '../../resource/messages/field-names.js'
import { ensureMessage } from '../../resource/messages/local-field.js'

/** The maximum number of fields in one path. */
const MAX_PATH_DEPTH = 32

/** A request field and the messages that contain it. */
export interface FieldPath {
  /** The proto name, such as `widget.display_name`. */
  readonly name: string
  readonly parents: readonly (DescField & { readonly message: DescMessage })[]
  readonly field: DescField
}

/** Finds a dotted path of proto or JSON names; undefined if the field does not exist. */
export function findField(desc: DescMessage, path: string): FieldPath | undefined {
  const names = path.split('.')
  if (names.length > MAX_PATH_DEPTH) return undefined
  const parents: (DescField & { readonly message: DescMessage })[] = []
  let inside = desc
  for (const [index, name] of names.entries()) {
    const field = fieldByEitherName(inside, name)
    if (field === undefined) return undefined
    if (index === names.length - 1) return { name: spell([...parents, field]), parents, field }
    if (field.fieldKind !== 'message' || hasSpecialJson(field.message)) return undefined
    parents.push(field)
    inside = field.message
  }
  return undefined
}

/** Returns the message that contains the field, and creates missing messages on the path. */
export const holderOf = ({ parents }: FieldPath, root: Message): Message =>
  parents.reduce(ensureMessage, root)

const spell = (fields: readonly DescField[]): string => fields.map(({ name }) => name).join('.')
