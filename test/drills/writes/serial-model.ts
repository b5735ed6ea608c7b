import { expect } from 'chai'

/** What a write did to a row, or what a call saw of it. */
export interface Observed {
  readonly etag: string
  readonly title: string
  readonly size: number
}

/** What a write asks. */
interface Asked {
  readonly kind: 'update' | 'increment' | 'delete' | 'undelete'
  /** The etag that it requires; undefined for any. */
  readonly required?: string | undefined
  /** What it writes; undefined where it leaves the title as it is. */
  readonly title?: string | undefined
}

/** A write that was acknowledged. */
interface Acknowledged extends Asked {
  /** The one that it made; undefined where it returned no row. */
  readonly etag: string | undefined
  readonly begun: number
  readonly ended: number
}

/** A title that a call saw. */
interface Seen {
  readonly title: string
  readonly begun: number
  readonly ended: number
}

/**
 * What one row must be after writes that ran side by side, if there is an order in which each of them ran
 * alone. A write that ended before another began comes before it.
 */
export class SerialRow {
  readonly #writes: Acknowledged[] = []
  readonly #seen: Seen[] = []
  readonly #sizes: number[] = []
  #clock = 0

  /** @param first - the row before the writes. */
  constructor(
    readonly name: string,
    private readonly first: Observed,
  ) {}

  /** Makes a call that writes, and keeps what it returns: the row, or nothing where it is deleted. */
  async write<R extends Observed | void>(asked: Asked, send: () => Promise<R>): Promise<R> {
    const begun = ++this.#clock
    const after = await send()
    const ended = ++this.#clock
    this.#writes.push({ ...asked, etag: after?.etag, begun, ended })
    if (after === undefined) return after
    const { kind, title } = asked
    if (title !== undefined) expect(after.title, `${this.name}: the title that was written`).to.equal(title)
    if (kind === 'increment') this.#sizes.push(after.size)
    this.#seen.push({ title: after.title, begun, ended })
    return after
  }

  /** Makes a call that reads. */
  async read(send: () => Promise<Observed>): Promise<Observed> {
    const begun = ++this.#clock
    const row = await send()
    this.#seen.push({ title: row.title, begun, ended: ++this.#clock })
    return row
  }

  /** @param last - the row after the writes. */
  check(last: Observed): void {
    const now = ++this.#clock
    this.#seen.push({ title: last.title, begun: now, ended: now })
    this.#checkEtags(last)
    this.#checkDeletes()
    this.#checkSizes(last)
    this.#checkTitles()
  }

  /** Each write made an etag of its own, and required one that no other write had changed. */
  #checkEtags(last: Observed): void {
    const made = new Set([this.first.etag])
    const required = new Set<string>()
    for (const { etag } of this.#writes) {
      if (etag === undefined) continue
      expect(made.has(etag), `${this.name}: an etag is made twice`).to.equal(false)
      made.add(etag)
    }
    for (const write of this.#writes) {
      if (write.required === undefined) continue
      expect(required.has(write.required), `${this.name}: two writes changed the same version`).to.equal(
        false,
      )
      expect(made.has(write.required), `${this.name}: a write required an etag that nobody made`).to.equal(
        true,
      )
      required.add(write.required)
    }
    expect(made.has(last.etag), `${this.name}: the last etag is of no write that was acknowledged`).to.equal(
      true,
    )
    expect(required.has(last.etag), `${this.name}: a write that followed the last one is lost`).to.equal(
      false,
    )
  }

  /** A live row that is live again was undeleted as often as it was deleted. */
  #checkDeletes(): void {
    const count = (one: Asked['kind']) => this.#writes.filter(({ kind }) => kind === one).length
    expect(count('delete'), `${this.name}: deletes`).to.equal(count('undelete'))
  }

  /** Increments add up, and no two of them returned the same sum. */
  #checkSizes(last: Observed): void {
    const sums = this.#sizes.sort((a, b) => a - b)
    const expected = sums.map((_, i) => this.first.size + i + 1)
    expect(sums, `${this.name}: what increments returned`).to.deep.equal(expected)
    expect(last.size, `${this.name}: the size`).to.equal(this.first.size + sums.length)
  }

  /** A title that was seen had been written, and no other write came wholly between the two. */
  #checkTitles(): void {
    const written = new Map([[this.first.title, { begun: 0, ended: 0 }]])
    for (const { title, begun, ended } of this.#writes)
      if (title !== undefined) written.set(title, { begun, ended })
    // By the end of each write: the latest beginning of a write that had ended by then.
    const byEnd = [...written.values()].sort((a, b) => a.ended - b.ended)
    const latest: number[] = []
    for (const { begun } of byEnd) latest.push(Math.max(begun, latest.at(-1) ?? 0))
    for (const { title, begun, ended } of this.#seen) {
      const source = written.get(title)
      expect(source, `${this.name}: the title ${title} was written by nobody`).to.not.equal(undefined)
      if (source === undefined) continue
      expect(source.begun, `${this.name}: ${title} was seen before it was written`).to.be.at.most(ended)
      const before = latest[lastBefore(byEnd, begun)] ?? 0
      expect(
        before > source.ended,
        `${this.name}: ${title} was seen after another write had replaced it`,
      ).to.equal(false)
    }
  }
}

/** The index of the last write that had ended before a time; -1 for none. */
function lastBefore(byEnd: readonly { readonly ended: number }[], time: number): number {
  let low = 0
  let high = byEnd.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((byEnd[middle]?.ended ?? 0) < time) low = middle + 1
    else high = middle
  }
  return low - 1
}
