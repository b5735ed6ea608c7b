import type { DescMessage } from '@bufbuild/protobuf'
import { behaves, holdsField, isImmutable } from '../../../resource/behavior/field-behavior.js'
import type { ResourceModel } from '../../../resource/resource-model.js'

/** The fields that an update writes. */
export interface Written {
  readonly paths: readonly string[]
  /** True if no field is written, although `paths` is empty. */
  readonly touchOnly: boolean
}

/**
 * Returns a function that removes IMMUTABLE fields (AIP-203) from the mask of a full update, so that their
 * stored values stay. Other masks are not changed. Undefined if the resource has no such field.
 */
export const sparingImmutable = (
  model: ResourceModel,
): ((written: Written, entity: object) => Written) | undefined => {
  const immutable = new Set(model.message?.fields.filter(isImmutable).map(({ name }) => name))
  const fields = model.entityFields.filter(({ writable, proto }) => writable && !immutable.has(proto))
  const secrets = model.secrets.filter(({ proto }) => !immutable.has(proto))
  if (![...model.writable].some((name) => immutable.has(name))) return undefined
  return (written, entity) => {
    const { paths, touchOnly } = written
    const isFull = paths.length === 0 || (paths.length === 1 && paths[0] === '*')
    if (touchOnly || !isFull) return written
    const values = entity as Readonly<Record<string, unknown>>
    const given = secrets.filter(({ property }) => (values[property] ?? '') !== '')
    const names = [...fields, ...given].map(({ proto }) => proto)
    return { paths: names, touchOnly: names.length === 0 }
  }
}

/**
 * Returns the paths of IMMUTABLE fields that a repository cannot preserve: fields inside a field that an
 * update replaces as a whole.
 */
export const unkeptImmutable = (resource: DescMessage): string[] =>
  resource.fields.flatMap((field) => {
    const isReplaced = !isImmutable(field) && !behaves(field, 'OUTPUT_ONLY')
    if (!isReplaced || field.message === undefined || !holdsField(field.message, isImmutable)) return []
    const inner = field.message.fields.find(isImmutable)?.name
    return inner === undefined ? [field.name] : [`${field.name}.${inner}`]
  })
