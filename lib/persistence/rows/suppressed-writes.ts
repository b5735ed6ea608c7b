import { ErrPreconditionFailed, Internal } from '../../errors.js'
import type { RequestContext } from '../../context.js'
import type { ResourceModel } from '../../resource/resource-model.js'

/** The database did not return the inserted row. */
export class NotInserted extends Internal {
  constructor() {
    super('the database did not return a written row')
  }
}

/**
 * Logs that a trigger has suppressed a write.
 *
 * @returns the caller's error.
 */
export function suppressed({ type }: ResourceModel, operation: string, context: RequestContext) {
  const error = new ErrPreconditionFailed(undefined, [
    {
      kind: 'preconditionFailure',
      type: 'TRIGGER',
      subject: type,
      description: `the database does not allow this ${type} to be ${operation}`,
    },
  ])
  context.reportFailure(
    `a trigger on the table of ${type} suppressed a write, which was rolled back: the row was not ${operation}`,
    error,
    true,
  )
  return error
}

/**
 * Logs that a trigger has changed a row's tenant.
 *
 * @returns the caller's error.
 */
export function moved({ type }: ResourceModel, context: RequestContext): Internal {
  const message = `a trigger on the table of ${type} changed a row's tenant, so the write was rolled back`
  const error = new Internal(message)
  context.reportFailure(message, error, true)
  return error
}
