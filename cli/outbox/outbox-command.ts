import { shellWord } from '../../lib/text/shell-word.js'

/**
 * Flags that are repeated in suggested commands. The connection string is excluded, because it may contain a
 * password.
 */
export interface KeptFlags {
  readonly schema?: string | undefined
}

/** Formats a command such as `ashlar outbox replay --cursor consumer:mails --schema shop`. */
export const outboxCommand = (
  verb: 'status' | 'dead-letters' | 'replay',
  cursor: string | undefined,
  { schema }: KeptFlags,
): string =>
  [
    `ashlar outbox ${verb}`,
    ...(cursor === undefined ? [] : ['--cursor', shellWord(cursor)]),
    ...(schema === undefined ? [] : ['--schema', shellWord(schema)]),
  ].join(' ')
