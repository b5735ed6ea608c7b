import { ErrPreconditionFailed, Internal } from '../../errors.js'
import type { RequestContext } from '../../context.js'
import type { ResourceModel } from '../../resource/resource-model.js'

/** A database did not return the row that it should insert. */
export class NotInserted extends Internal {
  constructor() {
    super('the database did not return a written row')
  }
}

/** Reports in the log that a trigger has left a write out. @returns what the caller gets. */
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

/** Reports in the log that a trigger has changed the tenant of a row. @returns what the caller gets. */
export function moved({ type }: ResourceModel, context: RequestContext): Internal {
  const message = `a trigger on the table of ${type} changed a row's tenant, so the write was rolled back`
  const error = new Internal(message)
  context.reportFailure(message, error, true)
  return error
}
