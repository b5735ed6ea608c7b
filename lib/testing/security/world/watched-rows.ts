import { toBinary } from '@bufbuild/protobuf'
import { inspect } from 'node:util'
import { storedRow } from './hidden-rows.js'
import { requestFor } from './requests.js'
import type { Subject } from './subjects.js'
import type { Row, Side, World } from './world.js'

/** Returns true if the check can read a row again. */
export const isReadable = (subject: Subject): boolean =>
  subject.repository !== undefined || subject.of('get') !== undefined

/** Returns everything that a row's owner can read of it, as a string; empty if the row does not exist. */
export const viewOf = async (
  { probe }: World,
  subject: Subject,
  owner: Side,
  { key }: Pick<Row, 'key'>,
): Promise<string> => {
  if (subject.repository !== undefined) {
    const stored = await storedRow(subject, owner, key)
    return stored === undefined ? '' : inspect(stored, WHOLE)
  }
  const [get, listener] = [subject.of('get'), probe.listeners[0]]
  if (get === undefined || listener === undefined) return ''
  const request = requestFor(owner, subject, get, { key })
  const outcome = await probe.send(listener, get.desc, request, { ...owner, mustNotSee: undefined })
  return outcome?.response === undefined
    ? ''
    : Buffer.from(toBinary(get.desc.output, outcome.response)).toString('latin1')
}

const WHOLE = {
  ...{ depth: Infinity, maxArrayLength: Infinity, maxStringLength: Infinity, breakLength: Infinity },
  sorted: true,
} as const

interface Watched<Call> {
  readonly subject: Subject
  readonly row: Row
  view: string
  /** The calls that name the row; undefined if none does. */
  readonly by: Call | undefined
  /** True if the row was soft-deleted. */
  readonly isDeleted: boolean
}

/** Rows of one tenant that no call of another tenant may change. */
export class WatchedRows<Call> {
  readonly #rows = new Map<Row, Watched<Call>>()

  constructor(
    private readonly world: World,
    private readonly owner: Side,
  ) {}

  get rows(): Iterable<Row> {
    return this.#rows.keys()
  }

  async add(subject: Subject, row: Row, by: Call | undefined, isDeleted = false): Promise<void> {
    const view = await viewOf(this.world, subject, this.owner, row)
    if (view !== '') this.#rows.set(row, { subject, row, view, by, isDeleted })
  }

  /** Returns the rows that have changed. From now on they are compared with their new state. */
  async changed(among: (row: Row) => boolean = () => true): Promise<readonly Watched<Call>[]> {
    const changed: Watched<Call>[] = []
    for (const one of this.#rows.values()) {
      if (!among(one.row)) continue
      const view = await viewOf(this.world, one.subject, this.owner, one.row)
      if (view === one.view) continue
      one.view = view
      changed.push(one)
    }
    return changed
  }
}
