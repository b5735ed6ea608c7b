import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { ForeignTool } from '../../lib/migrations/index.js'
import { Failure } from '../errors/failure.js'
import { reasonOf } from '../output/whole-file.js'
import { foldersOf, type NextVersion } from './next-files.js'

const DOWN = '-- nothing to undo: another tool made what is here, before it was taken over\n'

/**
 * The version that holds the schema of another tool, from its dump.
 * @throws {Failure} for a dump that cannot be used, or a folder that has versions already.
 */
export async function adoptedVersion(
  { tool, dialect, table, head }: ForeignTool,
  { files, dump }: { readonly files: string; readonly dump: string },
): Promise<NextVersion> {
  const there = foldersOf(files, dialect)
    .flatMap(({ folder }) => (existsSync(folder) ? readdirSync(folder) : []))
    .filter((name) => BY_HAND.test(name))
  if (there.length > 0)
    throw new Failure(
      'input',
      `${files} has versions already, and the schema of another tool becomes 0002: name another folder with --files`,
    )
  const { adoptedComment, dumpedStatements, lintFiles } = await import('../../lib/migrations/index.js')
  const statements = dumpedStatements(textOf(dump), dialect)
  if (statements.length === 0) throw new Failure('input', `${dump} has no statement that makes something`)
  const sql = `${statements.join(';\n\n')};\n`
  const description = `adopted_${tool.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_')}`
  const findings = await lintFiles({ '0002_adopted.up.sql': sql, '0002_adopted.down.sql': DOWN }, dialect)
  const rules = [...new Set(findings.filter(({ level }) => level === 'danger').map(({ rule }) => rule))]
  const allowed = rules.length === 0 ? '' : `-- ashlar:allow ${rules.join(', ')}\n`
  const up = `-- The schema that ${tool} made, as it was dumped.\n${adoptedComment(table, head)}\n${allowed}${sql}`
  return { description, sqlFor: () => ({ up, down: DOWN }) }
}

const BY_HAND = /^(?!0001_)[0-7]\d{3}_.*\.sql$/

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new Failure('input', `${file} cannot be read: ${reasonOf(error)}`, { cause: error })
  }
}
