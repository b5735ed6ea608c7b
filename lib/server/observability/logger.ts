import { errorForLog } from '../../faults/driver-fault.js'

/** Receives the server's log records. pino loggers implement this interface. */
export interface Logger {
  /** Details for debugging, including requests and responses. */
  debug(fields: object, message: string): void
  /** Normal operation. */
  info(fields: object, message: string): void
  /** Conditions that work but should be investigated. */
  warn(fields: object, message: string): void
  /** Errors that need attention. */
  error(fields: object, message: string): void
  /** Returns true if records of the level are written. Without this method, all are. */
  isLevelEnabled?(level: string): boolean
}

/** Log levels, from the least to the most severe. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error', 'silent']

/**
 * Returns a logger that writes one JSON object per line to stderr. This is the default.
 * @param level - the least severe level that is written; default `info`.
 *
 * @example
 * ```ts
 * import { jsonLogger, ServerBuilder } from 'ashlar'
 *
 * const server = new ServerBuilder({ grpcAddr: ':9090', logger: jsonLogger('warn') }).build()
 * ```
 */
export const jsonLogger = (level: LogLevel = 'info', write: (lines: string) => void = toStderr): Logger => {
  const least = LEVELS.indexOf(level)
  const at = (name: LogLevel) => {
    if (LEVELS.indexOf(name) < least) return () => {}
    return (fields: object, message: string) => {
      const record = { time: new Date().toISOString(), level: name, msg: message, ...fields }
      write(`${JSON.stringify(record, isFlat(record) ? undefined : plain)}\n`)
    }
  }
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    isLevelEnabled: (name) => LEVELS.indexOf(name as LogLevel) >= least,
  }
}

/**
 * Returns true if every value of the record is a plain JSON value, so that no error needs conversion. Most
 * call records are.
 */
const isFlat = (record: object): boolean => {
  for (const value of Object.values(record))
    if (typeof value === 'object' || typeof value === 'bigint') return false
  return true
}

/**
 * Replaces values that JSON cannot represent. Errors are written with their message and stack, and never with
 * the statements, parameters and rows that a driver attaches.
 */
const plain = (_key: string, value: unknown): unknown => {
  if (typeof value === 'bigint') return value.toString()
  return value instanceof Error ? errorForLog(value) : value
}

let pending = ''
let flushesAtExit = false

const flush = (): void => {
  const lines = pending
  pending = ''
  if (lines !== '') process.stderr.write(lines)
}

/**
 * Writes the lines of one turn of the event loop together, and the remaining ones when the process exits. All
 * loggers share one exit listener.
 */
const toStderr = (lines: string): void => {
  if (!flushesAtExit) process.once('exit', flush)
  flushesAtExit = true
  if (pending === '') setImmediate(flush)
  pending += lines
}
