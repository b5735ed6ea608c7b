import type { LockWait } from '../../contract/row-lock.js'

/** The clause that follows a SELECT's lock clause. */
export const LOCK_WAITS: Readonly<Record<LockWait, string>> = {
  block: '',
  nowait: ' NOWAIT',
  skip: ' SKIP LOCKED',
}
