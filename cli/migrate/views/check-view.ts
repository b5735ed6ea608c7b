import { type TriedDown, triedDownText } from '../../../lib/migrations/index.js'
import type { SchemaVersion } from '../../../lib/persistence/index.js'
import { type TableDifference, tableDifferenceText } from '../../../lib/text/table-difference.js'
import { terminalLine } from '../../output/terminal-line.js'
import type { FolderFinding } from '../lint-folder.js'
import { namesText } from '../lines/names-text.js'
import { nextLine, type Style } from '../lines/line-style.js'
import { lintLines } from './lint-view.js'

/** The findings of `check` so far. */
export interface Checked {
  readonly findings: readonly FolderFinding[]
  /** The folder if it contains no migration. */
  readonly empty: string | undefined
  /** Undefined if no migration was tried, because lint rejects a file. */
  readonly downs: readonly TriedDown[] | undefined
  /** Migrations that were not rolled back, because their down file contains only a comment. */
  readonly untried: readonly string[]
  /** Undefined without entities; `failed` if not all files can be applied. */
  readonly compared: ComparedFiles | 'failed' | undefined
}

export interface ComparedFiles {
  readonly entities: string
  /** Migrations that would make the tables match the entities. */
  readonly missing: readonly SchemaVersion[]
  /** The differences that the contract phase removes. */
  readonly left: readonly TableDifference[]
  readonly byHand: readonly TableDifference[]
}

const LONGEST_SQL = 200

/** Formats the findings of lint; none for an empty folder. */
export const checkedFindings = (
  { findings, empty }: Pick<Checked, 'findings' | 'empty'>,
  style: Style,
): readonly string[] => (findings.length > 0 || empty === undefined ? lintLines(findings, style) : [])

export const checkLines = (checked: Omit<Checked, 'findings'>, style: Style): readonly string[] => [
  ...downLines(checked, style),
  ...comparedLines(checked.compared, style),
]

function downLines(
  { downs, untried, empty }: Omit<Checked, 'findings'>,
  { paint, command }: Style,
): readonly string[] {
  if (downs === undefined)
    return [paint.bad('no migration is tried and nothing is compared, because lint rejects a file')]
  if (downs.length > 0) return downs.map((one) => paint.bad(triedDownText(one, command)))
  if (empty !== undefined) return [paint.good(`no migration to check: ${empty} has no .sql file`)]
  const ways =
    untried.length === 1
      ? 'its down migration has no statement, so it is'
      : 'their down migrations have no statement, so they are'
  const but = untried.length === 0 ? '' : `, except ${namesText(untried)}: ${ways} not tried`
  return [paint.good(`every migration goes up, down and up again${but}`)]
}

function comparedLines(compared: Checked['compared'], style: Style): readonly string[] {
  const { paint, command } = style
  if (compared === undefined) return []
  if (compared === 'failed')
    return [paint.bad('the entities are not compared, because the files cannot all be applied')]
  const { entities, missing, left, byHand } = compared
  const more = left.length === 0 ? '' : '; what is left for the contract is listed as a note'
  const isEqual = missing.length + byHand.length === 0
  return [
    ...missing.map(({ statements }) => {
      const sql = terminalLine(statements.map((one) => `${one};`).join(' '), LONGEST_SQL)
      return `${paint.bad('missing')}: no migration does this yet: ${sql}`
    }),
    ...byHand.map((one) => `${paint.bad('missing')} ${tableDifferenceText(one, true, command)}`),
    ...(isEqual ? [paint.good(`the files create what the entities need${more}`)] : []),
    ...(missing.length > 0
      ? [nextLine(style, { command: 'migrate diff', args: ['NAME'], options: { entities } })]
      : []),
  ]
}

export const checkNotes = ({ compared }: Pick<Checked, 'compared'>, { command }: Style): readonly string[] =>
  compared === undefined || compared === 'failed'
    ? []
    : compared.left.map(
        (one) =>
          `left for the contract, once no process with older code runs: ${tableDifferenceText(one, true, command)}`,
      )
