import { ErrConflict, type ErrorDetail, ErrPreconditionFailed } from '../../../errors.js'
import { byCodePoint } from '../../../text/code-point-order.js'

/** Counts above this number are reported as "more than". */
export const MAX_COUNTED = 1000

/** Rows of another resource that refer to a resource and so block its deletion. */
export interface Referring {
  /** The type of the resource that refers to it. */
  readonly type: string
  /** The number of rows, or undefined if the caller may only know that there are some. */
  readonly count: number | undefined
  /** True if the caller can set `force` to delete these rows as well. */
  readonly isForceable: boolean
  /**
   * The number of soft-deleted rows among them, if soft-deleted rows block the deletion until they are
   * purged. The number is undefined if it is not reported.
   */
  readonly untilPurged?: { readonly deleted: number | undefined }
}

/**
 * Returns the error of a delete while other rows refer to the entity, with one violation per referring type.
 */
export const stillReferredTo = (referring: readonly Referring[]): ErrPreconditionFailed =>
  new ErrPreconditionFailed(
    undefined,
    [...referring]
      .sort((a, b) => byCodePoint(a.type, b.type))
      .map((one) =>
        violation(
          'HAS_CHILDREN',
          one.type,
          `${counted(one.count)} of the type ${one.type} ${one.count === 1 ? 'refers' : 'refer'} to it: ${advice(one)}${one.isForceable ? ', or use force' : ''}`,
        ),
      ),
  )

function advice({ count, untilPurged }: Referring): string {
  const [them, are] = count === 1 ? ['it', 'it is'] : ['them', 'they are']
  if (untilPurged === undefined) return `delete ${them} first`
  const { deleted } = untilPurged
  if (deleted === 0) return `delete ${them}, and wait until ${are} purged`
  if (deleted !== undefined && deleted === count) return `${are} deleted already, wait until ${are} purged`
  const rest =
    deleted === undefined ? 'those that are not deleted yet' : `the ${(count ?? 0) - deleted} not deleted yet`
  return `delete ${rest}, and wait until all are purged`
}

const counted = (count: number | undefined): string => {
  if (count === undefined) return 'resources'
  if (count > MAX_COUNTED) return `more than ${MAX_COUNTED} resources`
  return count === 1 ? '1 resource' : `${count} resources`
}

/** Returns the error of a call that would write more rows than its limit. */
export const tooManyRows = (type: string, most: number): ErrPreconditionFailed =>
  new ErrPreconditionFailed(undefined, [
    violation(
      'TOO_MANY_ROWS',
      type,
      `it and the resources deleted with it are more than ${most}, the maximum that one call deletes (maxRows)`,
    ),
  ])

/**
 * Returns the error of an undelete while a row that the entity refers to is deleted.
 *
 * @param key - the child's key, if the child is not the entity of the call.
 */
export const parentIsDeleted = (child: string, parent: string, key?: string): ErrPreconditionFailed =>
  new ErrPreconditionFailed(undefined, [
    violation(
      'PARENT_DELETED',
      parent,
      `${key === undefined ? 'it' : `the ${child} ${JSON.stringify(key)}`} refers to a deleted ${parent}: undelete that first`,
    ),
  ])

/**
 * Returns the error of an undelete whose caller may not restore a resource that was deleted with the entity.
 */
export const mayNotUndelete = (type: string): ErrPreconditionFailed =>
  new ErrPreconditionFailed(undefined, [
    violation(
      'HAS_CHILDREN',
      type,
      `resources of the type ${type} were deleted with it, and this call may not undelete all of them`,
    ),
  ])

/**
 * Returns the error of an undelete if a unique value of a row that would be restored is used by another row.
 */
export function takenMeanwhile(type: string, key: string, conflict: ErrConflict): ErrConflict {
  const description = `the ${type} ${JSON.stringify(key)} was deleted together with it and cannot be undeleted, because one of its unique values is now in use`
  return Object.assign(conflict, {
    details: [...conflict.details, violation('UNIQUE_VALUE', type, description)],
  })
}

/** Returns the error of a soft delete in a transaction that reads from a fixed snapshot. */
export const fixedSnapshot = (type: string): ErrPreconditionFailed =>
  new ErrPreconditionFailed(undefined, [
    violation(
      'ISOLATION',
      type,
      'other resources may refer to it, and this transaction does not see what others have committed: use the isolation read committed',
    ),
  ])

const violation = (type: string, subject: string, description: string): ErrorDetail => ({
  kind: 'preconditionFailure',
  type,
  subject,
  description,
})
