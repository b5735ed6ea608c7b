import { appendFileSync, existsSync, readFileSync } from 'node:fs'

const file = process.env.ASHLAR_TEST_SUMMARY

/** The beginning of a line in the summary that makes a run fail in CI. */
const MISSING = 'CANNOT BE HAD '

/**
 * Writes to the summary of the run which tests were left out and why, so that they are never left out
 * silently.
 */
export function leftOut(subject: string, why: string): void {
  write(`left out: ${subject}: ${why}`)
}

/**
 * Writes to the summary of the run that something is missing that a full run needs. With `CI` set, the run
 * fails.
 */
export function cannotBeHad(subject: string, why: string): void {
  write(`${MISSING}${subject}: ${why}`)
}

function write(line: string): void {
  if (file === undefined) console.log(line)
  else appendFileSync(file, `${line}\n`)
}

/** Returns the lines that were written into `path`, without duplicates and in order. */
export function summaryIn(path: string): {
  readonly leftOut: readonly string[]
  readonly missing: readonly string[]
} {
  const lines = existsSync(path) ? [...new Set(readFileSync(path, 'utf8').split('\n').filter(Boolean))] : []
  return {
    leftOut: lines.filter((line) => !line.startsWith(MISSING)),
    missing: lines.filter((line) => line.startsWith(MISSING)).map((line) => line.slice(MISSING.length)),
  }
}
