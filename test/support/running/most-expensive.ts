import type { FileTime } from './file-result.js'

/** The number of files that are named, unless all of them are asked for. */
const NAMED = 10

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

/**
 * What a run of several files says about where its time went: the sum, and the files that took most processor
 * time.
 * @param wholeMs - the processor time of the whole run.
 */
export function mostExpensive(
  times: readonly FileTime[],
  wholeMs: number,
  named: number = NAMED,
): readonly string[] {
  if (times.length < 2) return []
  const sum = (of: 'wallMs' | 'cpuMs') => times.reduce((total, time) => total + time[of], 0)
  const line = ({ file, wallMs, cpuMs }: FileTime) =>
    `dearest: ${seconds(cpuMs)} of processor time in ${seconds(wallMs)}: ${file}`
  return [
    `${times.length} files took ${seconds(sum('wallMs'))}, of which they computed ${seconds(sum('cpuMs'))}; servers and what begins processes computed ${seconds(wholeMs - sum('cpuMs'))}`,
    ...[...times]
      .sort((one, other) => other.cpuMs - one.cpuMs)
      .slice(0, named)
      .map(line),
  ]
}
