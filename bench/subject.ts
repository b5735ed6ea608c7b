/** A comparison: the same operations by Ashlar and by its peers, each in its own process. */
export interface Subject {
  /** The name on the command line. */
  readonly name: string
  /** The operations that the sides offer, in the order in which they run. */
  readonly operations: readonly string[]
  /** The operations of a side that does not offer all of them, by the side's name. */
  readonly offers?: Readonly<Record<string, readonly string[]>>
  /** The numbers of concurrent callers; each produces a row. Default: `[1]`. */
  readonly concurrency?: readonly number[]
  /** The module of each side, which exports `setUp`. `ashlar` is Ashlar's side; all others are peers. */
  readonly sides: { readonly ashlar: URL } & Readonly<Record<string, URL>>
  /**
   * Maps a side to one that does a part of the same work. The cost of the whole as a multiple of the part is
   * printed.
   */
  readonly parts?: Readonly<Record<string, string>>
  /**
   * The number of rounds, and the milliseconds per slice and of the warm-up, that the subject needs for
   * steady results. The command line takes precedence.
   */
  readonly pace?: { readonly rounds?: number; readonly ms?: number; readonly warmUpMs?: number }
  /** True if the peers come from `bench/package.json`. */
  readonly installs?: boolean
  /** True if a side uses the package as npm would publish it. */
  readonly packs?: boolean
  /**
   * The goals: peer, then operation or `operation, callers`, then the peer's CPU time per operation divided
   * by Ashlar's.
   */
  readonly goals?: Readonly<Record<string, Readonly<Record<string, number>>>>
  /**
   * The ratio that no implementation can exceed: if Ashlar's own code took no time, this difference to the
   * peer would remain.
   */
  readonly ceiling?: Ceiling
  /** Returns lines to print at the end, for figures other than speed. */
  readonly afterwards?: () => Promise<readonly string[]>
  /** Returns the reason why the subject cannot be measured here; undefined if it can. */
  readonly unavailable?: () => Promise<string | undefined>
}

/**
 * The peer's CPU time per operation divided by that of a bare echo on the same library. A higher goal is
 * impossible.
 */
export interface Ceiling {
  readonly peer: string
  readonly echo: URL
  /** The operation of the echo side. */
  readonly operation: string
}

/**
 * Runs one operation. A synchronous one is called in a plain loop, so that the measurement includes no
 * promise.
 */
export type Operation = () => Promise<void> | void

/**
 * The result of `setUp` in a side's module. Operations check their responses, because a wrong one must not
 * count as fast.
 */
export interface Side {
  readonly operations: Readonly<Record<string, Operation>>
  /**
   * Returns the CPU time of this side's server so far, in microseconds. It is used if this process only
   * generates the load.
   */
  readonly serverCpuUs?: () => Promise<number>
  readonly tearDown?: () => Promise<void> | void
}

export interface SideModule {
  readonly setUp: () => Promise<Side> | Side
}
