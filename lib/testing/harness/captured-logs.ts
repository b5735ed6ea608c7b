import type { Logger, LogLevel } from '../../server/index.js'
import { inspect } from 'node:util'

/** One record that was logged. */
export interface LogRecord {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** A logger that keeps what it is told. */
export interface CapturedLogs {
  readonly logger: Logger
  readonly records: readonly LogRecord[]
  /** Everything that was logged as text, errors with their causes: for looking for what must not be there. */
  text(): string
  clear(): void
}

const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const

/**
 * A logger for tests.
 * @param level - the least severe level that is kept; `debug` has what goes in and out of every call. Default `info`.
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
