import { ErrPreconditionFailed, InvalidArgument } from '../../errors.js'
import type { Field } from '../fields/field.js'
import type { OwningRelation } from './relation.js'

/**
 * The same error for a target that never existed, a deleted one, and another tenant's: callers cannot
 * distinguish them.
 */
export const missingTarget = ({ proto, reference }: OwningRelation): InvalidArgument =>
  new InvalidArgument(reference.proto, `there is no such ${proto.replaceAll('_', ' ')}`)

/**
 * The tenant of a new row does not exist in the resource of the tenants. The row's creator belongs to that
 * tenant, or is the system.
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
