import { RequestContext } from '../context.js'

/** Undone in reverse order when the transaction fails. */
type Undo = () => void

class MemoryTransaction {
  readonly undo: Undo[] = []
  ended = false

  constructor(readonly database: MemoryDatabase) {}

  rollbackTo(mark: number): void {
    for (const undo of this.undo.splice(mark).reverse()) undo()
  }
}

/**
 * Tables in memory with real transactions: whoever writes waits for a running transaction to end. Repositories that share
 * one can be written in one transaction.
 */
export class MemoryDatabase {
  #turn: Promise<void> = Promise.resolve()
  #busy = 0

  /** Runs synchronous `work` all or nothing, in the transaction of the context or in its turn. */
  async write<T>(context: RequestContext, work: (log: (undo: Undo) => void) => T): Promise<T> {
    const running = this.#transactionOf(context)
    if (running !== undefined) return apply(running, work)
    if (this.#busy > 0)
      return this.#exclusive(() => Promise.resolve(apply(new MemoryTransaction(this), work)))
    return apply(new MemoryTransaction(this), work)
  }

  /** Runs `fn` in a transaction, or in a savepoint of the one the context is in. */
  async transaction<T>(context: RequestContext, fn: (context: RequestContext) => Promise<T>): Promise<T> {
    const running = this.#transactionOf(context)
    if (running === undefined)
      return this.#exclusive(() => this.#run(new MemoryTransaction(this), context, fn, true))
    return this.#run(running, context, fn, false)
  }

  async #run<T>(
    transaction: MemoryTransaction,
    context: RequestContext,
    fn: (context: RequestContext) => Promise<T>,
    outermost: boolean,
  ): Promise<T> {
    const mark = transaction.undo.length
    const inside = context.with({ transaction })
    try {
      return await inside.run(() => fn(inside))
    } catch (error) {
      transaction.rollbackTo(mark)
      throw error
    } finally {
      if (outermost) transaction.ended = true
    }
  }

  #transactionOf(context: RequestContext): MemoryTransaction | undefined {
    const { transaction } = context
    if (!(transaction instanceof MemoryTransaction) || transaction.database !== this) return undefined
    if (transaction.ended)
      throw new TypeError('the transaction of this call has ended: await everything inside of it')
    return transaction
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

function apply<T>(transaction: MemoryTransaction, work: (log: (undo: Undo) => void) => T): T {
  const mark = transaction.undo.length
  try {
    return work((undo) => transaction.undo.push(undo))
  } catch (error) {
    transaction.rollbackTo(mark)
    throw error
  }
}
