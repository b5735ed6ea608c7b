/** Where an item stands in a queue: what takes it out again. */
export interface Place<T> {
  readonly item: T
  before: Place<T> | undefined
  behind: Place<T> | undefined
}

/**
 * Items in the order in which they came. Any of them is taken out in constant time, which a `Map` does not give: its first
 * entry is found behind the holes of all that were deleted before it.
 */
export class Queue<T> {
  #first: Place<T> | undefined
  #last: Place<T> | undefined

  get first(): T | undefined {
    return this.#first?.item
  }

  push(item: T): Place<T> {
    const place: Place<T> = { item, before: this.#last, behind: undefined }
    if (this.#last === undefined) this.#first = place
    else this.#last.behind = place
    this.#last = place
    return place
  }

  /** @param place - one that is in this queue. */
  remove({ before, behind }: Place<T>): void {
    if (before === undefined) this.#first = behind
    else before.behind = behind
    if (behind === undefined) this.#last = before
    else behind.before = before
  }
}
