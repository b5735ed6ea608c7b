import { AshlarError, ErrNotFound, InvalidArgument } from '../../lib/index.js'

/** What the state of things does not allow now: FAILED_PRECONDITION, which over HTTP is 400. */
export const refused = (type: string, subject: string, description: string): AshlarError =>
  new AshlarError('FAILED_PRECONDITION', `${subject}: ${description}`, {
    details: [{ kind: 'preconditionFailure', type, subject, description }],
  })

/** What a field of the request names. If it does not exist, the request is wrong, and nothing that it asks for is "not found". */
export const named = <T>(field: string, reading: Promise<T>): Promise<T> =>
  reading.catch((error: unknown) => {
    throw error instanceof ErrNotFound ? new InvalidArgument(field, 'does not exist') : error
  })
