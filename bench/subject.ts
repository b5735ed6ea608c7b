/** One comparison to make: the same operations, by Ashlar and by its peers, each in a process of its own. */
export interface Subject {
  /** What the command line calls it. */
  readonly name: string
  /** Names of the operations that the sides offer, in the order they are run. */
  readonly operations: readonly string[]
  /** The operations of a side, by its name, that does not offer all of them. */
  readonly offers?: Readonly<Record<string, readonly string[]>>
  /** Callers at the same time; each gives a row. Default `[1]`. */
  readonly concurrency?: readonly number[]
  /** The module of each side, which exports `setUp`: ours as `ashlar`, every other one is a peer. */
  readonly sides: { readonly ashlar: URL } & Readonly<Record<string, URL>>
  /** Of a side by name, the side that does a part of the same work: how many times its cost the whole has is printed. */
  readonly parts?: Readonly<Record<string, string>>
  /** Rounds, milliseconds a slice and before the first one that the subject needs to be steady, unless the command line says otherwise. */
  readonly pace?: { readonly rounds?: number; readonly ms?: number; readonly warmUpMs?: number }
  /** True if the peers come from `bench/package.json`. */
  readonly installs?: boolean
  /** True if a side uses the package as npm would publish it. */
  readonly packs?: boolean
  /** The aims: peer → operation, or `operation, callers` → CPU per operation, the peer's divided by ours. */
  readonly goals?: Readonly<Record<string, Readonly<Record<string, number>>>>
  /** What no chain and no codec can pass: where ours cost nothing, this would still be between it and the peer. */
  readonly ceiling?: Ceiling
  /** Figures that are no comparison of speed, as lines to print behind them. */
  readonly afterwards?: () => Promise<readonly string[]>
  /** Why it cannot be measured here; undefined when it can. */
  readonly unavailable?: () => Promise<string | undefined>
}

/** The peer's CPU per operation divided by that of a bare echo on the same library: a goal above it is void. */
export interface Ceiling {
  readonly peer: string
  readonly echo: URL
  /** The operation of the echo's side. */
  readonly operation: string
}

/** One operation once. A synchronous one is called in a plain loop, so that no promise is measured with it. */
export type Operation = () => Promise<void> | void

/** What `setUp` of a side's module answers. Operations check their answers: a wrong one must not count as fast. */
export interface Side {
  readonly operations: Readonly<Record<string, Operation>>
  /** Microseconds of CPU that the server of this side has used so far: what is counted where this process is only its load. */
  readonly serverCpuUs?: () => Promise<number>
  readonly tearDown?: () => Promise<void> | void
}

export interface SideModule {
  readonly setUp: () => Promise<Side> | Side
}
