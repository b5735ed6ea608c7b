/** A node of a queue. Removing an item requires its node. */
export interface QueueNode<T> {
  readonly item: T
  before: QueueNode<T> | undefined
  behind: QueueNode<T> | undefined
}

/**
 * A queue in order of arrival that removes any item in constant time. With a `Map`, finding the first entry
 * would walk over all deleted entries.
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

  /** @param node - a node of this queue. */
  remove({ before, behind }: QueueNode<T>): void {
    if (before === undefined) this.#first = behind
    else before.behind = behind
    if (behind === undefined) this.#last = before
    else behind.before = before
  }
}
