import { shellWord } from '../../lib/text/shell-word.js'

/**
 * Flags that the next command needs as well. The connection string is not among them: it may hold a password.
 */
export interface KeptFlags {
  readonly schema?: string | undefined
}

/** `ashlar outbox replay --cursor consumer:mails --schema shop`. */
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
