import { ErrPreconditionFailed, InvalidArgument } from '../../errors.js'
import type { Field } from '../fields/field.js'
import type { OwningRelation } from './relation.js'

/**
 * Returns the error for a missing target. It is the same for a target that never existed, a deleted one and
 * another tenant's, so that callers cannot distinguish them.
 */
export const missingTarget = ({ proto, reference }: OwningRelation): InvalidArgument =>
  new InvalidArgument(reference.proto, `there is no such ${proto.replaceAll('_', ' ')}`)

/**
 * Returns the error of a new row whose tenant does not exist in the tenant resource. The row's creator
 * belongs to that tenant or is the system.
 * @param cause - the database's error.
 */
export const missingTenant = ({ proto }: Field, cause?: unknown): ErrPreconditionFailed =>
  new ErrPreconditionFailed(cause, [
    {
      kind: 'preconditionFailure',
      type: 'TENANT_MISSING',
      subject: proto,
      description: `the tenant to which ${proto} refers does not exist: create it first`,
    },
  ])
