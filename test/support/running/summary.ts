import { appendFileSync, existsSync, readFileSync } from 'node:fs'

const file = process.env.ASHLAR_TEST_SUMMARY

/** A line that a run ends with, and that fails it in CI. */
const MISSING = 'CANNOT BE HAD '

/** Says in the run's summary what was not run and why, so that a left-out row is never silent. */
export function leftOut(subject: string, why: string): void {
  write(`left out: ${subject}: ${why}`)
}

/** Says in the run's summary what a whole run needs and does not have. With `CI` set it is a failure. */
export function cannotBeHad(subject: string, why: string): void {
  write(`${MISSING}${subject}: ${why}`)
}

function write(line: string): void {
  if (file === undefined) console.log(line)
  else appendFileSync(file, `${line}\n`)
}

/** What was written into `path`, each line once, in order. */
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
