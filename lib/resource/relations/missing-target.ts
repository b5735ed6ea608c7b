import { ErrPreconditionFailed, InvalidArgument } from '../../errors.js'
import type { Field } from '../fields/field.js'
import type { OwningRelation } from './relation.js'

/**
 * The same for a target that never was, one that is deleted, and one of another tenant: nobody learns which.
 */
export const missingTarget = ({ proto, reference }: OwningRelation): InvalidArgument =>
  new InvalidArgument(reference.proto, `there is no such ${proto.replaceAll('_', ' ')}`)

/**
 * The tenant of a new row is none that the resource of the tenants has. Whoever creates the row belongs to
 * that tenant, or is the system.
 * @param cause - what the database said.
 */
export const missingTenant = ({ proto }: Field, cause?: unknown): ErrPreconditionFailed =>
  new ErrPreconditionFailed(cause, [
    {
      kind: 'preconditionFailure',
      type: 'TENANT_MISSING',
      subject: proto,
      description: `the tenant is not there, to which ${proto} refers: create it first`,
    },
  ])
