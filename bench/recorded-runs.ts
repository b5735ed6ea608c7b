import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import type { Comparison, Multiple, Spread } from './compare.js'

/** A recorded run in `bench/recorded`. Some values of runs that were copied from a page are unknown. */
export interface RecordedRun {
  readonly command: string
  readonly date: string
  readonly node: string
  readonly machine: string
  readonly note?: string
  readonly comparisons?: readonly RecordedComparison[]
  readonly multiples?: readonly (Pick<Multiple, 'whole'> & Case & { readonly cpu: RecordedSpread })[]
  readonly notes?: readonly string[]
  readonly figures?: readonly {
    readonly what: string
    readonly unit: string
    readonly values: Readonly<Record<string, number>>
  }[]
}

type Case = Pick<Comparison, 'subject' | 'operation' | 'concurrency'>
export type RecordedSpread = Pick<Spread, 'median'> & Partial<Spread>
export type RecordedComparison = Case & {
  readonly against: string
  readonly cpuRatio: RecordedSpread
  readonly ratio?: RecordedSpread
  readonly p99Ratio?: RecordedSpread
  readonly ceiling?: RecordedSpread | undefined
  readonly leastCpuRatio?: number
  readonly goal?: number | undefined
}

const ROOT = join(import.meta.dirname, '..', '..')

export const recordedRun = (name: string): RecordedRun =>
  JSON.parse(readFileSync(join(ROOT, `bench/recorded/${name}.json`), 'utf8')) as RecordedRun

/** Writes a run with its date and machine to the file of `--json`. */
export function writeRun(path: string, command: string, measured: Partial<RecordedRun>): void {
  const machine = `${cpus().length} of ${cpus()[0]?.model ?? 'an unknown processor'}, load ${loadavg()[0]?.toFixed(1)} at the end`
  const run: RecordedRun = {
    ...{ command, date: new Date().toISOString().slice(0, 10), node: process.versions.node, machine },
    ...measured,
  }
  writeFileSync(path, `${JSON.stringify(run, undefined, 2)}\n`)
}
