import type { Logger, LogLevel } from '../../server/index.js'
import { inspect } from 'node:util'

/** One log record. */
export interface LogRecord {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** A logger that stores its records. */
export interface CapturedLogs {
  readonly logger: Logger
  readonly records: readonly LogRecord[]
  /**
   * Returns all records as a string, including the causes of errors. Search it for data that must not be
   * logged.
   */
  text(): string
  /** Deletes all records. */
  clear(): void
}

const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const

/**
 * Returns a logger for tests.
 * @param level - the least severe level that is recorded; `debug` includes requests and responses. Default:
 *   `info`.
 */
export function captureLogs(level: LogLevel = 'info'): CapturedLogs {
  const records: LogRecord[] = []
  const isLevelEnabled = (name: string) => LEVELS.indexOf(name as LogLevel) >= LEVELS.indexOf(level)
  const at = (name: LogRecord['level']) => (fields: object, message: string) => {
    if (isLevelEnabled(name)) records.push({ level: name, message, fields: { ...fields } })
  }
  return {
    logger: {
      debug: at('debug'),
      info: at('info'),
      warn: at('warn'),
      error: at('error'),
      isLevelEnabled,
    },
    records,
    text: () => records.map((record) => inspect(record, EVERYTHING)).join('\n'),
    clear: () => void records.splice(0),
  }
}

const EVERYTHING = {
  depth: Infinity,
  maxArrayLength: Infinity,
  maxStringLength: Infinity,
  breakLength: Infinity,
} as const
