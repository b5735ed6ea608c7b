import type { BaselineResult } from '../../../lib/migrations/index.js'
import { type Style, uncomparedLine } from '../lines/line-style.js'

/**
 * Returns a line for each migration that a baseline recorded. For the framework's own migration, the missing
 * tables were created.
 */
export const recordedLines = ({ applied, recorded }: BaselineResult, { paint }: Style): readonly string[] => [
  ...applied.map((name) => `${paint.good('created')} the framework’s own tables that were missing (${name})`),
  ...recorded.map((name) => `${paint.good('recorded')} ${name} as applied: nothing of it was run`),
]

export const baselineLines = (result: BaselineResult, style: Style): readonly string[] => [
  ...recordedLines(result, style),
  uncomparedLine(style),
]

/** Returns a note with the command that removes a record. */
export const baselineNotes = ({ recorded }: BaselineResult, { command }: Style): readonly string[] =>
  recorded.length === 0
    ? []
    : [
        `to remove a record, delete its row from ashlar_migrations: ${command('migrate down')} would run its down migration, which drops existing tables`,
      ]
