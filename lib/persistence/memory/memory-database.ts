import { RequestContext } from '../../context.js'
import {
  joined,
  OpenTransaction,
  refuseNested,
  runAfterCommit,
  surrounding,
} from '../contract/open-transaction.js'
import type { TransactionOptions } from '../contract/repository.js'

/** Undone in reverse order when the transaction fails. */
type Undo = () => void

class MemoryTransaction extends OpenTransaction {
  #queue: Promise<unknown> = Promise.resolve()

  constructor(
    database: MemoryDatabase,
    around: OpenTransaction | undefined,
    outer: MemoryTransaction | undefined,
    /** Shared by a transaction and all that is nested in it. */
    isReadOnly = outer?.isReadOnly ?? false,
    readonly undo: Undo[] = outer?.undo ?? [],
  ) {
    super(database, around, outer, isReadOnly)
  }

  rollbackTo(mark: number): void {
    for (const undo of this.undo.splice(mark).reverse()) undo()
  }

  /** Writes and nested transactions run one after another: what one takes back must not be somebody else's. */
  enqueue<T>(work: () => T | Promise<T>): Promise<T> {
    const turn = this.#queue.then(work)
    this.#queue = turn.catch(() => {})
    return turn
  }

  end(): Promise<void> {
    return this.settle()
  }
}

/**
 * Tables in memory with real transactions: whoever writes waits for a running transaction to end. Repositories that share
 * one can be written in one transaction.
 */
export class MemoryDatabase {
  #turn: Promise<void> = Promise.resolve()
  #busy = 0

  /** Runs an operation in the transaction that its call joins, which waits for it to settle; or outside of any. */
  perform<T>(
    given: RequestContext | undefined,
    name: string,
    work: (write: MemoryWrite) => Promise<T>,
  ): Promise<T> {
    const running = this.#joined(given)
    if (running === undefined) return work((change) => this.#write(change))
    return running.perform(name, () =>
      work(async (change) => {
        running.refuseReadOnly(name)
        return running.enqueue(() => apply(running, change))
      }),
    )
  }

  /** Runs `fn` in a transaction, or in a savepoint of the one that the call joins. */
  async transaction<T>(
    fn: (context: RequestContext) => Promise<T>,
    { context: given, ...settings }: TransactionOptions = {},
  ): Promise<T> {
    const context = given ?? RequestContext.current()
    const around = surrounding(given)
    const running = this.#joined(given)
    if (running !== undefined) {
      refuseNested(settings)
      const nested = () => run(new MemoryTransaction(this, around, running), context, fn)
      return (await running.perform('a transaction', () => running.enqueue(nested))).result
    }
    const { result, afterCommit } = await this.#exclusive(() =>
      run(new MemoryTransaction(this, around, undefined, settings.readOnly), context, fn),
    )
    await runAfterCommit(afterCommit, context.with({ transaction: around }))
    return result
  }

  async #write<T>(change: Change<T>): Promise<T> {
    const alone = () => apply(new MemoryTransaction(this, undefined, undefined), change)
    return this.#busy > 0 ? this.#exclusive(() => Promise.resolve(alone())) : alone()
  }

  #joined(given: RequestContext | undefined): MemoryTransaction | undefined {
    const transaction = joined(this, given)
    return transaction instanceof MemoryTransaction ? transaction : undefined
  }

  /** First come, first served. */
  async #exclusive<T>(work: () => Promise<T>): Promise<T> {
    const before = this.#turn
    let done: () => void = () => {}
    this.#turn = new Promise((resolve) => (done = resolve))
    this.#busy++
    try {
      await before
      return await work()
    } finally {
      this.#busy--
      done()
    }
  }
}

/** Changes rows, and says how each change is undone. It is synchronous, so that nobody sees half of it. */
type Change<T> = (log: (undo: Undo) => void) => T

/** Runs a change all or nothing, in the transaction of the operation or in its turn. */
export type MemoryWrite = <T>(change: Change<T>) => Promise<T>

async function run<T>(
  transaction: MemoryTransaction,
  context: RequestContext,
  fn: (context: RequestContext) => Promise<T>,
): Promise<{ readonly result: T; readonly afterCommit: readonly (() => unknown)[] }> {
  const mark = transaction.undo.length
  const inside = context.with({ transaction })
  try {
    const result = await inside.run(() => fn(inside))
    await transaction.end()
    return { result, afterCommit: transaction.over('kept') }
  } catch (error) {
    await transaction.end().catch(() => {})
    transaction.over('rolled back')
    transaction.rollbackTo(mark)
    throw error
  }
}

function apply<T>(transaction: MemoryTransaction, change: Change<T>): T {
  const mark = transaction.undo.length
  try {
    return change((undo) => transaction.undo.push(undo))
  } catch (error) {
    transaction.rollbackTo(mark)
    throw error
  }
}
