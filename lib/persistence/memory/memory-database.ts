import { RequestContext } from '../../context.js'

/** Undone in reverse order when the transaction fails. */
type Undo = () => void

class MemoryTransaction {
  ended = false
  /** Settles when the nested transaction that is open has ended. */
  child: Promise<void> | undefined

  constructor(
    readonly database: MemoryDatabase,
    readonly parent: MemoryTransaction | undefined = undefined,
    /** Shared by a transaction and all that is nested in it. */
    readonly undo: Undo[] = parent?.undo ?? [],
  ) {}

  rollbackTo(mark: number): void {
    for (const undo of this.undo.splice(mark).reverse()) undo()
  }

  /** Lets a nested transaction end first: what it takes back must not be somebody else's. */
  async turn(): Promise<void> {
    for (
      let at: unknown = RequestContext.current().transaction;
      at instanceof MemoryTransaction;
      at = at.parent
    )
      if (at.parent === this)
        throw new TypeError('a nested transaction is open: use the context it was given')
    while (this.child !== undefined) await this.child
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
    if (running !== undefined) {
      await running.turn()
      return apply(running, work)
    }
    if (this.#busy > 0)
      return this.#exclusive(() => Promise.resolve(apply(new MemoryTransaction(this), work)))
    return apply(new MemoryTransaction(this), work)
  }

  /** Runs `fn` in a transaction, or in a savepoint of the one the context is in. */
  async transaction<T>(context: RequestContext, fn: (context: RequestContext) => Promise<T>): Promise<T> {
    const running = this.#transactionOf(context)
    if (running === undefined) return this.#exclusive(() => run(new MemoryTransaction(this), context, fn))
    await running.turn()
    let ended: () => void = () => {}
    running.child = new Promise((resolve) => (ended = resolve))
    try {
      return await run(new MemoryTransaction(this, running), context, fn)
    } finally {
      running.child = undefined
      ended()
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

async function run<T>(
  transaction: MemoryTransaction,
  context: RequestContext,
  fn: (context: RequestContext) => Promise<T>,
): Promise<T> {
  const mark = transaction.undo.length
  const inside = context.with({ transaction })
  try {
    return await inside.run(() => fn(inside))
  } catch (error) {
    transaction.rollbackTo(mark)
    throw error
  } finally {
    transaction.ended = true
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
