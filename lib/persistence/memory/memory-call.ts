import type { RowCall } from '../rows/row-call.js'
import type { MemoryRows } from './memory-database.js'
import type { MemoryReferable } from './memory-references.js'

/** An operation on rows in memory. */
export interface MemoryCall extends RowCall, MemoryRows {
  /** What the caller of a write may refer to; everything when left out. */
  readonly referable?: MemoryReferable | undefined
}
