import { Aborted, type AshlarError, Unavailable, Unimplemented, UnknownOutcome } from '../../../errors.js'
import { DriverFault } from '../../../faults/driver-fault.js'
import { type ServerFailure, serverFailure } from '../../dialects/citus/failures.js'

export const REFUSES_CONNECTIONS = 'a server of the database does not accept connections: retry later'

const NEEDS_TENANT =
  'the distributed database cannot run this for all tenants at once: call it for one tenant'

/** The state of a transaction at the time when a server of a distributed database failed. */
export interface CommittedTransaction {
  /** True for `repeatable read` and `serializable`. */
  readonly isSerial: boolean
  /** True if a server reported a serialization failure. */
  readonly isAborted: boolean
}

const OUTCOMES: Readonly<
  Record<ServerFailure, (cause: DriverFault, transaction: CommittedTransaction) => AshlarError>
> = {
  refused: (cause) => new Unavailable(REFUSES_CONNECTIONS, cause),
  lost: (cause) => new Unavailable('the connection to a server of the database was lost', cause),
  unroutable: (cause) => new Unimplemented(NEEDS_TENANT, cause),
  uncommitted: (cause, { isSerial, isAborted }) =>
    isSerial && isAborted
      ? new Aborted(undefined, cause)
      : new UnknownOutcome(
          'a server of the database failed while committing: it is unknown whether the changes were saved',
          cause,
        ),
}

/** Returns the caller's error if a server of a distributed database failed, or undefined for other errors. */
export function failedServer(error: unknown, transaction: CommittedTransaction): AshlarError | undefined {
  const failure = serverFailure(error)
  return failure && OUTCOMES[failure](new DriverFault(error), transaction)
}
