import type { DescField } from '@bufbuild/protobuf'
import { facetsOf } from '../facets/facets.js'
import type { KindName } from '../kinds/kind.js'
import { kindOf } from '../kinds/kinds.js'
import type { Role } from './field.js'

/**
 * The value of IMPLICIT in google.protobuf.FeatureSet.FieldPresence: a field whose message cannot distinguish
 * unset from zero.
 */
const IMPLICIT = 2

/**
 * Returns true if the column can store the zero value that the message cannot distinguish from an unset
 * field. UUIDs and dates have no such value.
 */
export function hasStorableZero(kind: KindName, role: Role, inMessage: DescField | undefined): boolean {
  const isAbsentZero = inMessage?.presence === IMPLICIT && inMessage.fieldKind !== 'message'
  const { zero, filler } = kindOf({ kind })
  const facets = facetsOf(kind, inMessage, {})
  return (
    isAbsentZero &&
    (role === 'plain' || role === 'outputOnly') &&
    (filler(facets) !== undefined || zero(facets) instanceof Uint8Array)
  )
}
