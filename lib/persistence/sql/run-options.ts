import type { Scope } from '../contract/scope.js'
import type { RunOptions } from '../engines/executor/executor.js'

/** What a statement has to know of the call it is sent for. */
export const runOptions = ({ context: { signal } }: Pick<Scope, 'context'>): RunOptions =>
  signal === undefined ? {} : { signal }
