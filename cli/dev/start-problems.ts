import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Paint } from '../output/paint.js'
import { terminalLine } from '../output/terminal-line.js'
import { errorLines, type SourceError } from './source-error.js'

/** The problems that prevent a service from starting, from a DeclarationError of the framework. */
export interface StartProblems {
  readonly subject: string
  readonly values: readonly StartProblem[]
}

interface StartProblem {
  readonly text: string
  /** The class with the invalid declaration, and its property. */
  readonly entity?: string
  readonly property?: string
}

/** Returns the problems in a message from a service's process; undefined for another message. */
export const startProblemsIn = (message: unknown): StartProblems | undefined =>
  (message as { readonly startProblems?: StartProblems } | null)?.startProblems

/** Sends the problems of an error that ends the process to the parent. Other errors are left to Node. */
function sendProblems(): void {
  process.on('uncaughtExceptionMonitor', (error: Error & { subject?: string; values?: unknown }) => {
    const { subject = 'server', values } = error
    if (!Array.isArray(values) || !process.connected) return
    if (process.listenerCount('uncaughtException') > 0) return
    process.once('uncaughtException', () =>
      process.send?.({ startProblems: { subject, values } }, () => process.exit(1)),
    )
  })
}

/** A module for `--import`, as a data URL. */
export const SENDS_PROBLEMS = `data:text/javascript,${encodeURIComponent(`(${sendProblems.toString()})()`)}`

/** Formats each problem with its source line if it can be found. */
export const startProblemLines = (
  { subject, values }: StartProblems,
  folder: string,
  paint: Paint,
): readonly string[] =>
  values.flatMap((one) => {
    const place = placeOf(one, folder)
    return place === undefined
      ? [paint.bad(terminalLine(`${subject}: ${one.text}`, 2_000))]
      : errorLines({ ...place, message: one.text }, folder, paint)
  })

/** Returns the position of the problem's property or class. */
function placeOf(
  { entity, property }: StartProblem,
  folder: string,
): Omit<SourceError, 'message'> | undefined {
  if (entity === undefined) return undefined
  for (const path of sourcesIn(join(folder, 'src'))) {
    const lines = readFileSync(join(folder, 'src', path), 'utf8').split('\n')
    const start = lines.findIndex((line) => classIn(line) === entity)
    if (start < 0) continue
    const end = lines.findIndex((line, at) => at > start && line.startsWith('}'))
    const inside = lines.slice(start, end < 0 ? lines.length : end)
    const at = property === undefined ? -1 : inside.findIndex((line) => propertyIn(line) === property)
    const line = start + Math.max(0, at)
    const name = at < 0 ? entity : (property ?? entity)
    return { path: join('src', path), line: line + 1, column: (lines[line] ?? '').lastIndexOf(name) + 1 }
  }
  return undefined
}

const sourcesIn = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => /\.m?ts$/.test(path))
  } catch {
    return []
  }
}

const classIn = (line: string): string | undefined => /^(?:export )?(?:abstract )?class (\w+)/.exec(line)?.[1]

/** Finds a property in a source line. Its decorators may be on the same line. */
const propertyIn = (line: string): string | undefined => /(?:^|[\s)])(\w+)[!?]?: [^,]*$/.exec(line)?.[1]
