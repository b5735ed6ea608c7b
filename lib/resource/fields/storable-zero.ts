import type { DescField } from '@bufbuild/protobuf'
import { facetsOf } from '../facets/facets.js'
import type { KindName } from '../kinds/kind.js'
import { kindOf } from '../kinds/kinds.js'
import type { Role } from './field.js'

/** A field whose message cannot tell absent from zero. */
const IMPLICIT = 2

/**
 * True if the column can hold the zero value, which the message cannot tell from absent: no UUID and no day
 * is like nothing.
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
