import { existsSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { sourceLine, terminalLine } from '../output/terminal-line.js'
import type { Paint } from '../output/paint.js'

/** An error that a compiler reports. Lines and columns start at 1. */
export interface SourceError {
  readonly path: string
  readonly line: number
  readonly column: number
  readonly message: string
}

/**
 * Parses a line of tsc such as `src/a.ts(3,5): error TS2304: Cannot find name 'b'.`. Undefined for other
 * lines.
 */
export function typescriptError(line: string): SourceError | undefined {
  const [, path, at, column, message] = /^(.+?)\((\d+),(\d+)\): error (.+)$/.exec(line) ?? []
  return path === undefined || message === undefined
    ? undefined
    : { path, line: Number(at), column: Number(column), message }
}

/**
 * Returns true for an error about a missing module that exists by now, because the compiler has not noticed
 * it yet.
 */
export function missesWhatIsThere({ path, message }: SourceError, folder: string): boolean {
  const [, module] = /^TS2307: Cannot find module '(\.[^']+)\.js'/.exec(message) ?? []
  return module !== undefined && existsSync(`${resolve(folder, dirname(path), module)}.ts`)
}

/** Parses a line of buf such as `proto/a.proto:3:5:syntax error`. Undefined for other lines. */
export function protoError(line: string): SourceError | undefined {
  const [, path, at, column, message] = /^(.+?\.proto):(\d+):(\d+):\s*(.+)$/.exec(line) ?? []
  return path === undefined || message === undefined
    ? undefined
    : { path, line: Number(at), column: Number(column), message }
}

/** Formats an error with its source line and a mark below the position. */
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
