import { type SideProcess, startSide } from './side-process.js'
import type { Slice } from './slice.js'
import type { Subject } from './subject.js'
import type { SliceRequest } from './worker.js'

/** One line of the result: how Ashlar stands to one peer in one operation. */
export interface Comparison {
  readonly subject: string
  readonly operation: string
  readonly against: string
  readonly concurrency: number
  readonly rounds: number
  /** Operations per second, ours divided by the peer's, round by round: above 1 means that Ashlar is faster. */
  readonly ratio: Spread
  /** CPU per operation, the peer's divided by ours: above 1 means that Ashlar costs less. */
  readonly cpuRatio: Spread
  /** CPU per operation in the slice of each side in which it was least: what other work on the machine disturbs least. */
  readonly leastCpuRatio: number
  /** 99th percentile of the latency, the peer's divided by ours: above 1 means that Ashlar's is shorter. */
  readonly p99Ratio: Spread
  /** What `cpuRatio` is to reach; undefined where nothing was aimed at. */
  readonly goal: number | undefined
  /** The peer's CPU divided by that of a bare echo, where the subject has one. */
  readonly ceiling: Spread | undefined
}

/** How many times the cost of a part of the work the whole has, round by round. */
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

/** Medians over the rounds of what one side did, for the printed table. */
export type SideFigures = Slice & { readonly side: string }

/** What was run. */
export interface Measured {
  readonly operation: string
  readonly concurrency: number
}

export interface Pace {
  readonly rounds: number
  readonly ms: number
  /** How long every side runs before it is measured, so that what is measured is compiled; as long as a slice by default. */
  readonly warmUpMs?: number | undefined
}

/**
 * Measures every operation of a subject: all sides run at the same time in processes of their own and take turns in slices
 * of `ms`, in an order that is reversed every second round, so that whatever disturbs the machine disturbs both alike.
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

/** A goal may be one for a number of callers, such as `get, 64`. */
function goalOf({ goals }: Subject, against: string, operation: string, callers: number): number | undefined {
  const ofPeer = goals?.[against]
  return ofPeer?.[`${operation}, ${callers}`] ?? ofPeer?.[operation]
}

/** The side that only gives the ceiling. */
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
