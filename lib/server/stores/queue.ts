/** An item in a queue, by which it can be removed. */
export interface QueueNode<T> {
  readonly item: T
  before: QueueNode<T> | undefined
  behind: QueueNode<T> | undefined
}

/**
 * Items in order of arrival. Any item is removed in constant time. A `Map` does not give that: finding its
 * first entry walks over all deleted ones.
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
