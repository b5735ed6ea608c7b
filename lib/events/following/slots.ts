/** Limits how many functions run at the same time. The others wait in the order of their calls. */
export class Slots {
  readonly #waiting: (() => void)[] = []

  constructor(private free: number) {}

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free--
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.free++
      else next()
    }
  }
}
