import { shellWord } from '../../../lib/text/shell-word.js'

/** Flags that the next command needs as well. The connection string is not among them: it may hold a password. */
export interface KeptFlags {
  readonly files?: string | undefined
  readonly module?: string | undefined
  readonly schema?: string | undefined
}

const DEFAULT_FOLDER = 'migrations'

/**
 * The last line of a command that another one follows: `Next: ashlar migrate plan`.
 * @param words - the command and its own flags, such as `['plan']`.
 * @param when - what has to be done before.
 */
export function nextLine(words: readonly string[], kept: KeptFlags = {}, when = ''): string {
  const { files = DEFAULT_FOLDER, module, schema } = kept
  const flags = { files: files === DEFAULT_FOLDER ? undefined : files, module, schema }
  const repeated = Object.entries(flags).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, shellWord(value)],
  )
  return `Next: ${['ashlar', 'migrate', ...words, ...repeated].join(' ')}${when === '' ? '' : `, ${when}`}`
}
