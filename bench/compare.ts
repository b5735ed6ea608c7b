import { type SideProcess, startSide } from './side-process.js'
import type { Slice } from './slice.js'
import type { Subject } from './subject.js'
import type { SliceRequest } from './worker.js'

/** A line of the result: the comparison of Ashlar with one peer in one operation. */
export interface Comparison {
  readonly subject: string
  readonly operation: string
  readonly against: string
  readonly concurrency: number
  readonly rounds: number
  /** Ashlar's operations per second divided by the peer's, for each round. Above 1, Ashlar is faster. */
  readonly ratio: Spread
  /** The peer's CPU time per operation divided by Ashlar's. Above 1, Ashlar uses less. */
  readonly cpuRatio: Spread
  /**
   * The ratio of the lowest CPU time per operation of each side, which other work on the machine affects
   * least.
   */
  readonly leastCpuRatio: number
  /** The peer's 99th percentile of the latency divided by Ashlar's. Above 1, Ashlar's is shorter. */
  readonly p99Ratio: Spread
  /** The goal for `cpuRatio`; undefined if there is none. */
  readonly goal: number | undefined
  /** The peer's CPU time divided by that of a bare echo server, if the subject has one. */
  readonly ceiling: Spread | undefined
}

/** The cost of the whole work divided by the cost of a part, for each round. */
export interface Multiple {
  readonly whole: string
  readonly part: string
  readonly cpu: Spread
  readonly p50: Spread
}

export interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
}

/** The medians of one side over all rounds, for the printed table. */
export type SideFigures = Slice & { readonly side: string }

/** A measured operation. */
export interface Measured {
  readonly operation: string
  readonly concurrency: number
}

export interface Pace {
  readonly rounds: number
  readonly ms: number
  /**
   * The warm-up time of each side in milliseconds, in which its code is compiled. Default: the length of a
   * slice.
   */
  readonly warmUpMs?: number | undefined
}

/**
 * Measures every operation of a subject. All sides run in their own processes and take turns in slices of
 * `ms` milliseconds. The order is reversed every second round, so that disturbances of the machine affect all
 * sides equally.
 */
export async function compare(
  subject: Subject,
  { rounds, ms, warmUpMs = ms }: Pace,
  report: (
    what: Measured,
    comparisons: readonly Comparison[],
    figures: readonly SideFigures[],
    multiples: readonly Multiple[],
  ) => void,
): Promise<void> {
  const sides: SideProcess[] = []
  try {
    for (const [name, module] of Object.entries(subject.sides)) sides.push(await startSide(name, module))
    const { ceiling } = subject
    if (ceiling !== undefined) sides.push(await startSide(ECHO, ceiling.echo))
    for (const operation of subject.operations)
      for (const concurrency of subject.concurrency ?? [1]) {
        const offering = sides.filter(({ name }) => subject.offers?.[name]?.includes(operation) ?? true)
        const requestOf = ({ name }: SideProcess) => ({
          operation: name === ECHO ? (ceiling?.operation ?? operation) : operation,
          ...{ concurrency, ms },
        })
        const slices = await interleave(offering, requestOf, rounds, warmUpMs)
        const echo = slices.get(ECHO)
        const ours = slices.get('ashlar') ?? []
        const comparisons = [...slices]
          .filter(([name]) => name !== 'ashlar' && name !== ECHO)
          .map(([against, theirs]) => ({
            ...{ subject: subject.name, operation, against, concurrency, rounds },
            ratio: spread(ours.map(({ perSecond }, i) => perSecond / (theirs[i]?.perSecond ?? Number.NaN))),
            cpuRatio: spread(ours.map(({ cpuUs }, i) => (theirs[i]?.cpuUs ?? Number.NaN) / cpuUs)),
            leastCpuRatio: leastCpu(theirs) / leastCpu(ours),
            p99Ratio: spread(ours.map(({ p99Us }, i) => (theirs[i]?.p99Us ?? Number.NaN) / p99Us)),
            goal: goalOf(subject, against, operation, concurrency),
            ceiling:
              against === ceiling?.peer && echo !== undefined
                ? spread(theirs.map(({ cpuUs }, i) => cpuUs / (echo[i]?.cpuUs ?? Number.NaN)))
                : undefined,
          }))
        const multiples = Object.entries(subject.parts ?? {}).flatMap(([whole, part]) =>
          slices.has(whole) && slices.has(part) ? [multipleOf(whole, part, slices)] : [],
        )
        report({ operation, concurrency }, comparisons, [...slices].map(figuresOf), multiples)
      }
  } finally {
    await Promise.all(sides.map((side) => side.end()))
  }
}

/** Returns a goal, which may apply to a number of callers, such as `get, 64`. */
function goalOf({ goals }: Subject, against: string, operation: string, callers: number): number | undefined {
  const ofPeer = goals?.[against]
  return ofPeer?.[`${operation}, ${callers}`] ?? ofPeer?.[operation]
}

/** The side that determines the ceiling. */
const ECHO = 'bare echo'

function multipleOf(whole: string, part: string, slices: ReadonlyMap<string, readonly Slice[]>): Multiple {
  const parts = slices.get(part) ?? []
  const times = (of: (slice: Slice) => number) =>
    spread((slices.get(whole) ?? []).map((slice, i) => of(slice) / (parts[i] ? of(parts[i]) : Number.NaN)))
  return { whole, part, cpu: times(({ cpuUs }) => cpuUs), p50: times(({ p50Us }) => p50Us) }
}

async function interleave(
  sides: readonly SideProcess[],
  requestOf: (side: SideProcess) => SliceRequest,
  rounds: number,
  warmUpMs: number,
): Promise<ReadonlyMap<string, readonly Slice[]>> {
  const slices = new Map<string, Slice[]>(sides.map(({ name }) => [name, []]))
  for (const side of sides) await side.measure({ ...requestOf(side), ms: warmUpMs })
  for (let round = 0; round < rounds; round++)
    for (const side of round % 2 === 0 ? sides : sides.toReversed())
      slices.get(side.name)?.push(await side.measure(requestOf(side)))
  return slices
}

const figuresOf = ([side, slices]: readonly [string, readonly Slice[]]): SideFigures => ({
  side,
  perSecond: median(slices.map(({ perSecond }) => perSecond)),
  p50Us: median(slices.map(({ p50Us }) => p50Us)),
  p99Us: median(slices.map(({ p99Us }) => p99Us)),
  cpuUs: median(slices.map(({ cpuUs }) => cpuUs)),
})

const leastCpu = (slices: readonly Slice[]): number => Math.min(...slices.map(({ cpuUs }) => cpuUs))

const spread = (values: readonly number[]): Spread => ({
  median: median(values),
  min: Math.min(...values),
  max: Math.max(...values),
})

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}
