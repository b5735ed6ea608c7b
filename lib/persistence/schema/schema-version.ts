import type { Allowance, ChangeFile } from '../dialects/catalog/change-sql.js'

/** A migration as the contents of its up and down file. */
export interface SchemaVersion {
  /** The words of the file name, such as `index_orders_code`. */
  readonly what: string
  readonly up: string
  readonly down: string
  /** The statements of the up migration. */
  readonly statements: readonly string[]
  /** True if it is numbered with the files of `search generate`. `what` is then the complete name. */
  readonly isSearch?: true
}

const inWords = (what: string): string =>
  what
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .slice(0, LONGEST_NAME)
    .replace(/_$/, '')

const text = (statements: readonly string[]): string => statements.map((one) => `${one};\n`).join('\n')

/** Returns the file contents of a change. */
export function versionOf(file: ChangeFile): SchemaVersion {
  const { what, up, down, comments = '', isBackfill, isSearch } = file
  const chunks = isBackfill === true ? '-- ashlar:backfill chunk=1000\n' : ''
  return {
    ...(isSearch === true
      ? { what: what.replaceAll(/[^A-Za-z0-9_-]/g, '_'), isSearch }
      : { what: inWords(what) }),
    statements: up,
    up: `${comments}${allowed(file.allow)}${chunks}${text(up)}`,
    down:
      down.length === 0
        ? '-- nothing to undo: its changes are removed with the migration before it\n'
        : `${allowed(file.allowDown)}${text(down)}`,
  }
}

const allowed = (allow: Allowance | undefined): string =>
  allow === undefined ? '' : `-- ashlar:allow ${allow.rules.join(', ')}\n-- ${allow.reason}\n`

/** The maximum length of this part of a file name. */
const LONGEST_NAME = 80
