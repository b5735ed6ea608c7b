/** The elapsed time of a test file, and the processor time of its process and child processes. */
export interface FileTime {
  readonly file: string
  readonly wallMs: number
  readonly cpuMs: number
}

/** The results of the tests in one or more files. */
export interface FileResult {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  /** The full titles of the failed tests. */
  readonly failures: readonly string[]
  /** One entry for each file that ran to its end. */
  readonly times: readonly FileTime[]
}

/**
 * The beginning of the line that a test process prints at the end of a file. The rest of the line is a {@link
 * FileResult}.
 */
export const FILE_ENDS = '\u0000file ends '

export const NOTHING_RUN: FileResult = { passed: 0, failed: 0, skipped: 0, failures: [], times: [] }

export const together = (one: FileResult, other: FileResult): FileResult => ({
  passed: one.passed + other.passed,
  failed: one.failed + other.failed,
  skipped: one.skipped + other.skipped,
  failures: [...one.failures, ...other.failures],
  times: [...one.times, ...other.times],
})
