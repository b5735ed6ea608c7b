import type { BaselineResult } from '../../../lib/migrations/index.js'
import { type Style, uncomparedLine } from '../lines/line-style.js'

/**
 * One line for each version that a baseline recorded. Of the framework's own, it made the tables that were
 * missing.
 */
export const recordedLines = ({ applied, recorded }: BaselineResult, { paint }: Style): readonly string[] => [
  ...applied.map((name) => `${paint.good('created')} the framework’s own tables that were missing (${name})`),
  ...recorded.map((name) => `${paint.good('recorded')} ${name} as applied: nothing of it was run`),
]

export const baselineLines = (result: BaselineResult, style: Style): readonly string[] => [
  ...recordedLines(result, style),
  uncomparedLine(style),
]

/** The command that removes a record. */
export const baselineNotes = ({ recorded }: BaselineResult, { command }: Style): readonly string[] =>
  recorded.length === 0
    ? []
    : [
        `to remove a record, delete its row from ashlar_migrations: ${command('migrate down')} would run its down migration, which drops existing tables`,
      ]
