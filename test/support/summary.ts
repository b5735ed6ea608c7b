import { appendFileSync, existsSync, readFileSync } from 'node:fs'

const file = process.env.ASHLAR_TEST_SUMMARY

/** Says in the run's summary what was not run and why, so that a left-out row is never silent. */
export function leftOut(subject: string, why: string): void {
  const line = `${subject}: ${why}`
  if (file === undefined) console.log(`left out: ${line}`)
  else appendFileSync(file, `${line}\n`)
}

/** What `leftOut` collected in `path`, each line once, in order. */
export const leftOutIn = (path: string): readonly string[] =>
  existsSync(path) ? [...new Set(readFileSync(path, 'utf8').split('\n').filter(Boolean))] : []
