/**
 * An entry that the provider stores. `text` is JSON, so that callers cannot change an entry and its size is
 * known.
 */
interface Entry {
  readonly text: string
  /** The expiry in seconds since the epoch. */
  readonly exp: number
  readonly grantId: string | undefined
  /** Another key of the entry: a session's uid or a device's user code. */
  readonly alias: string | undefined
}

export interface Bound {
  readonly entries: number
  /** The maximum number of characters of all entries together. */
  readonly characters: number
}

const MIB = 1 << 20

/**
 * The limits of entries that do not require a sign-in. When a limit is reached, the oldest entry is deleted.
 */
const BOUNDS: Readonly<Record<string, Bound>> = {
  Interaction: { entries: 2_000, characters: 4 * MIB },
  DeviceCode: { entries: 1_000, characters: MIB },
  AuthorizationCode: { entries: 2_000, characters: 2 * MIB },
  Session: { entries: 2_000, characters: 4 * MIB },
  Grant: { entries: 10_000, characters: 4 * MIB },
  RefreshToken: { entries: 10_000, characters: 8 * MIB },
  AccessToken: { entries: 10_000, characters: 8 * MIB },
}
const OTHER: Bound = { entries: 2_000, characters: MIB }

/**
 * The kinds of entries that are written to the disk. Unfinished interactions can begin again after a restart.
 */
const LASTING: readonly string[] = ['Session', 'Grant', 'RefreshToken', 'AccessToken']

type Payload = Readonly<Record<string, unknown>>

/** The entries of every kind, bounded in number and size. */
export class Store {
  readonly #kinds = new Map<string, Map<string, Entry>>()
  readonly #characters = new Map<string, number>()
  readonly #aliases = new Map<string, string>()

  /**
   * @param changed - called for every change of a permanent kind.
   */
  constructor(
    private readonly now: () => number,
    private readonly changed: () => void,
    private readonly bounds: Readonly<Record<string, Bound>> = BOUNDS,
  ) {}

  get(kind: string, id: string): Payload | undefined {
    const entry = this.#kinds.get(kind)?.get(id)
    if (entry === undefined) return undefined
    if (entry.exp > this.now()) return JSON.parse(entry.text) as Payload
    this.delete(kind, id)
    return undefined
  }

  byAlias(kind: string, alias: string): Payload | undefined {
    const id = this.#aliases.get(aliasKey(kind, alias))
    return id === undefined ? undefined : this.get(kind, id)
  }

  set(kind: string, id: string, payload: Payload, exp: number): void {
    this.delete(kind, id)
    const alias = text(payload['uid']) ?? text(payload['userCode'])
    const entry = { text: JSON.stringify(payload), exp, grantId: text(payload['grantId']), alias }
    const entries = this.#kinds.get(kind) ?? new Map<string, Entry>()
    this.#kinds.set(kind, entries.set(id, entry))
    if (alias !== undefined) this.#aliases.set(aliasKey(kind, alias), id)
    this.#count(kind, entry.text.length)
    this.#makeRoom(kind, entries)
    this.#note(kind)
  }

  delete(kind: string, id: string): boolean {
    const entries = this.#kinds.get(kind)
    const entry = entries?.get(id)
    if (entries === undefined || entry === undefined) return false
    entries.delete(id)
    if (entry.alias !== undefined && this.#aliases.get(aliasKey(kind, entry.alias)) === id)
      this.#aliases.delete(aliasKey(kind, entry.alias))
    this.#count(kind, -entry.text.length)
    this.#note(kind)
    return true
  }

  /** Deletes the entries of a kind that belong to the grant. */
  deleteOfGrant(kind: string, grantId: string): void {
    for (const [id, entry] of this.#kinds.get(kind) ?? [])
      if (entry.grantId === grantId) this.delete(kind, id)
  }

  /** Deletes the entries of every kind whose payload the test matches. Returns their number. */
  deleteWhere(test: (payload: Payload, kind: string) => boolean): number {
    let deleted = 0
    for (const [kind, entries] of this.#kinds)
      for (const [id, entry] of entries)
        if (test(JSON.parse(entry.text) as Payload, kind)) deleted += Number(this.delete(kind, id))
    return deleted
  }

  sizeOf(kind: string): number {
    return this.#kinds.get(kind)?.size ?? 0
  }

  /** Removes expired entries. */
  sweep(): void {
    const now = this.now()
    for (const [kind, entries] of this.#kinds)
      for (const [id, entry] of entries) if (entry.exp <= now) this.delete(kind, id)
  }

  /** Returns the entries of permanent kinds as JSON. */
  toText(): string {
    this.sweep()
    const kinds = LASTING.map((kind) => {
      const entries = [...(this.#kinds.get(kind) ?? [])].map(
        ([id, { text: payload, exp }]) => `[${JSON.stringify(id)},${exp},${payload}]`,
      )
      return `${JSON.stringify(kind)}:[${entries.join(',\n')}]`
    })
    return `{${kinds.join(',\n')}}\n`
  }

  /**
   * Replaces the entries with those in a string.
   *
   * @throws Error if `toText` did not write the string.
   */
  fromText(whole: string): void {
    const kinds = JSON.parse(whole) as Readonly<Record<string, readonly [string, number, Payload][]>>
    for (const kind of LASTING)
      for (const [id, exp, payload] of kinds[kind] ?? []) this.set(kind, id, payload, exp)
    this.sweep()
  }

  #makeRoom(kind: string, entries: Map<string, Entry>): void {
    const { entries: most, characters } = this.bounds[kind] ?? OTHER
    for (const id of entries.keys()) {
      if (entries.size <= most && (this.#characters.get(kind) ?? 0) <= characters) return
      this.delete(kind, id)
    }
  }

  #count(kind: string, characters: number): void {
    this.#characters.set(kind, (this.#characters.get(kind) ?? 0) + characters)
  }

  #note(kind: string): void {
    if (LASTING.includes(kind)) this.changed()
  }
}

const aliasKey = (kind: string, alias: string): string => `${kind}:${alias}`

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
