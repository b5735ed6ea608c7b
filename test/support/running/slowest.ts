import type { FileTime } from './file-result.js'

/** How many files are named. */
const NAMED = 20

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

/** What a run of several files says about where its time went: the sum, and the files that took most of it. */
export function slowest(times: readonly FileTime[]): readonly string[] {
  if (times.length < 2) return []
  const sum = (of: 'wallMs' | 'cpuMs') => times.reduce((total, time) => total + time[of], 0)
  const total = sum('wallMs')
  const line = ({ file, wallMs, cpuMs }: FileTime) =>
    `slowest: ${seconds(wallMs)}, ${Math.round((100 * cpuMs) / wallMs)} % CPU: ${file}`
  return [
    `${times.length} files took ${seconds(total)}, of which they computed ${seconds(sum('cpuMs'))}`,
    ...[...times]
      .sort((one, other) => other.wallMs - one.wallMs)
      .slice(0, NAMED)
      .map(line),
  ]
}
