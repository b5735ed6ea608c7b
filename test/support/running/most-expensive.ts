import type { FileTime } from './file-result.js'

/** The default number of files to print. */
const NAMED = 10

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

/**
 * Returns lines about the processor time of a run: the sum, and the files that used the most.
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
