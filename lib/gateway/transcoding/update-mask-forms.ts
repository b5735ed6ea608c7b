import type { DescField, DescMessage, Message } from '@bufbuild/protobuf'
import { InvalidArgument } from '../../errors.js'
import { checkMaskPaths } from '../../resource/mask-paths.js'
import { hasSpecialJson } from '../json/any.js'
import { findMaskPath } from '../../resource/messages/field-names.js'
import type { Local } from '../../resource/messages/local-field.js'
import { fieldNamed } from '../../resource/messages/field-readers.js'
import { printable } from '../../text/printable.js'

/**
 * The treatment of comma-joined or lowerCamelCase `update_mask` values. `spec`: they write nothing, and a
 * header reports them. `strict`: they are an error. `normalize`: they are split and converted to proto names.
 * @inline
 */
export type UpdateMaskMode = 'spec' | 'strict' | 'normalize'

/** A request's `update_mask` and the resource to which it applies. */
export interface MaskTarget {
  readonly field: DescField
  readonly resource: DescMessage
}

/** An ignored mask value and the nearest valid names. */
export interface IgnoredPath {
  readonly path: string
  readonly nearest: readonly string[]
}

/**
 * Returns the `repeated string update_mask` next to a resource; undefined for other requests. A FieldMask has
 * its own JSON mapping.
 */
export function maskTargetOf(request: DescMessage, bodyField: DescField | undefined): MaskTarget | undefined {
  const field = fieldNamed(request, 'update_mask')
  if (field?.fieldKind !== 'list' || field.listKind !== 'scalar') return undefined
  const resources = request.fields.filter(
    (each) => each.fieldKind === 'message' && !hasSpecialJson(each.message),
  )
  const resource = bodyField?.message ?? (resources.length === 1 ? resources[0]?.message : undefined)
  return resource === undefined ? undefined : { field, resource }
}

/**
 * Removes values in another format from a request's mask and returns them. Values that name fields are kept.
 * A mask with only blank values counts as empty.
 * @throws InvalidArgument for a name that is invalid in every format and, in mode `strict`, for every other
 *   format.
 */
export function sortMask(
  message: Message,
  { field, resource }: MaskTarget,
  mode: UpdateMaskMode,
): readonly IgnoredPath[] {
  const local = message as Local
  const values = local[field.localName] as readonly string[]
  checkMaskPaths('update_mask', values)
  const kept: string[] = []
  const ignored: IgnoredPath[] = []
  for (const value of values.some(Boolean) ? values : []) {
    const nearest = respell(resource, value)
    if (nearest.length === 1 && nearest[0] === value) kept.push(value)
    else if (mode === 'normalize') kept.push(...nearest)
    else if (mode === 'strict') throw new InvalidArgument('update_mask', mistake(nearest))
    else ignored.push({ path: value, nearest })
  }
  // An empty mask would mean a full update. If no value is left, the ignored values stay, marked as ignored.
  local[field.localName] = kept.length === 0 ? ignored.map(({ path }) => path) : kept
  return ignored
}

const mistake = (nearest: readonly string[]): string =>
  `name each field in a parameter of its own, by its proto name: ${nearest.map((name) => `update_mask=${name}`).join('&')}`

/** Converts a value in any format to proto paths. */
function respell(resource: DescMessage, value: string): readonly string[] {
  const paths: string[] = []
  const parts = value.split(',')
  for (const part of parts) {
    const path = parts.length > 1 ? part.trim() : part
    const proto = path === '*' ? path : findMaskPath(resource, path)?.proto
    if (proto === undefined)
      throw new InvalidArgument('update_mask', `unknown field "${printable(path)}" of ${resource.name}`)
    paths.push(proto)
  }
  return paths
}
