import type {
  OperationOptions,
  BatchGetOptions,
  WriteOptions,
} from '../../persistence/contract/repository.js'
import type { Restriction } from '../authz/decision.js'

/** What was decided about a call. */
export interface Decided {
  /** About the call itself. */
  readonly own: Restriction
  /** About reading the same resource: what is not in it is not there for the caller. */
  readonly readable: () => Restriction | Promise<Restriction>
  /** Says why the call is refused, where that is told. */
  readonly explain: (why: string) => void
}

/** An operation on rows that are there. */
export interface Asked {
  readonly name:
    'get' | 'batchGet' | 'update' | 'modify' | 'delete' | 'undelete' | 'batchUpdate' | 'batchDelete'
  readonly keys: readonly string[]
}

export interface Write<R> extends Asked {
  readonly run: (options: WriteOptions) => Promise<R>
  /** The entities as they were written, where the row may have left what the caller may reach. */
  readonly written?: (result: R) => readonly object[]
}

/**
 * For a call about the rows that one with these options is about: its context, its predicate and its limit,
 * and nothing else of them.
 */
export const sameRows = (options: BatchGetOptions = {}): BatchGetOptions => ({
  ...sameContext(options),
  ...(options.where === undefined ? {} : { where: options.where }),
  ...(options.maxBytes === undefined ? {} : { maxBytes: options.maxBytes }),
})

/** For a call beside one that was given these options: its context, and nothing else of them. */
export const sameContext = ({ context }: OperationOptions = {}): OperationOptions =>
  context === undefined ? {} : { context }
