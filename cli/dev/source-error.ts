import { existsSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { sourceLine, terminalLine } from '../output/terminal-line.js'
import type { Paint } from '../output/paint.js'

/** A mistake that a compiler found. Lines and columns count from 1. */
export interface SourceError {
  readonly path: string
  readonly line: number
  readonly column: number
  readonly message: string
}

/** `src/a.ts(3,5): error TS2304: Cannot find name 'b'.` of tsc. Undefined for another line. */
export function typescriptError(line: string): SourceError | undefined {
  const [, path, at, column, message] = /^(.+?)\((\d+),(\d+)\): error (.+)$/.exec(line) ?? []
  return path === undefined || message === undefined
    ? undefined
    : { path, line: Number(at), column: Number(column), message }
}

/** True if it says that a module is missing which is there by now: the compiler has not heard of it yet. */
export function missesWhatIsThere({ path, message }: SourceError, folder: string): boolean {
  const [, module] = /^TS2307: Cannot find module '(\.[^']+)\.js'/.exec(message) ?? []
  return module !== undefined && existsSync(`${resolve(folder, dirname(path), module)}.ts`)
}

/** `proto/a.proto:3:5:syntax error` of buf. Undefined for another line. */
export function protoError(line: string): SourceError | undefined {
  const [, path, at, column, message] = /^(.+?\.proto):(\d+):(\d+):\s*(.+)$/.exec(line) ?? []
  return path === undefined || message === undefined
    ? undefined
    : { path, line: Number(at), column: Number(column), message }
}

/** The mistake with the line that it is on, and a mark below its place. */
export function errorLines(error: SourceError, folder: string, paint: Paint): readonly string[] {
  const { path, line, column, message } = error
  const title = `${paint.bold(`${terminalLine(path)}:${line}:${column}`)} ${paint.bad(terminalLine(message, 2_000))}`
  const source = lineOf(resolve(folder, path), line)
  if (source === undefined) return [title]
  const number = String(line)
  const before = sourceLine(source.slice(0, column - 1), 2_000).replaceAll(/\S/g, ' ')
  return [
    title,
    `  ${paint.dim(`${number} |`)} ${sourceLine(source)}`,
    `  ${paint.dim(`${' '.repeat(number.length)} |`)} ${before}${paint.bad('^')}`,
  ]
}

function lineOf(path: string, line: number): string | undefined {
  try {
    return readFileSync(path, 'utf8').split('\n')[line - 1]
  } catch {
    return undefined
  }
}
