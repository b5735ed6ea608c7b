/** The time a file took, and how much of that its process and the processes that it started computed. */
export interface FileTime {
  readonly file: string
  readonly wallMs: number
  readonly cpuMs: number
}

/** What came of the tests of a file, or of several. */
export interface FileResult {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  /** The full titles of what failed. */
  readonly failures: readonly string[]
  /** One for each file that ran to its end. */
  readonly times: readonly FileTime[]
}

/**
 * Begins the line with which a test process ends what it prints about a file; the rest is a
 * {@link FileResult}.
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
