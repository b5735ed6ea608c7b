import { InvalidArgument } from '../../errors.js'
import type { OwningRelation } from './relation.js'

/**
 * The same for a target that never was, one that is deleted, and one of another tenant: nobody learns which.
 */
export const missingTarget = ({ proto, reference }: OwningRelation): InvalidArgument =>
  new InvalidArgument(reference.proto, `there is no such ${proto.replaceAll('_', ' ')}`)
