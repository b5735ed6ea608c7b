import type { LockWait } from '../../contract/row-lock.js'

/** The clause that follows the lock clause of a SELECT. */
export const LOCK_WAITS: Readonly<Record<LockWait, string>> = {
  block: '',
  nowait: ' NOWAIT',
  skip: ' SKIP LOCKED',
}
