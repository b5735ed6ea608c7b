/** An item in a queue, and what takes it out again. */
export interface QueueNode<T> {
  readonly item: T
  before: QueueNode<T> | undefined
  behind: QueueNode<T> | undefined
}

/**
 * Items in the order in which they came. Any of them is taken out in constant time, which a `Map` does not give: its first
 * entry is found behind the holes of all that were deleted before it.
 */
export class Queue<T> {
  #first: QueueNode<T> | undefined
  #last: QueueNode<T> | undefined

  get first(): T | undefined {
    return this.#first?.item
  }

  push(item: T): QueueNode<T> {
    const node: QueueNode<T> = { item, before: this.#last, behind: undefined }
    if (this.#last === undefined) this.#first = node
    else this.#last.behind = node
    this.#last = node
    return node
  }

  /** @param node - one that is in this queue. */
  remove({ before, behind }: QueueNode<T>): void {
    if (before === undefined) this.#first = behind
    else before.behind = behind
    if (behind === undefined) this.#last = before
    else behind.before = before
  }
}
