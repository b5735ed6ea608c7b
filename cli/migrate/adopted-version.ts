import { readFileSync } from 'node:fs'
import type { AdoptableTool, CommandLine, Dialect } from '../../lib/migrations/index.js'
import { Failure } from '../errors/failure.js'
import { readingReasonOf } from '../output/whole-file.js'
import { adoptedIn, hasVersions, type NextVersion } from './next-files.js'

const DOWN = '-- nothing to undo: another tool made what is here, before it was taken over\n'

/**
 * Returns the text of a schema dump.
 * @throws {Failure} for a file that is empty or cannot be read.
 */
export function dumpIn(file: string, command: CommandLine): string {
  const text = textOf(file)
  if (text.trim() !== '') return text
  throw new Failure(
    'input',
    `${file} is empty: ${command('migrate adopt')} without --dump prints the command that writes it`,
  )
}

/** @throws {Failure} for a folder that already contains migrations. */
export function refuseVersions(files: string, dialect: Dialect, command: CommandLine): void {
  if (!hasVersions(files, dialect)) return
  const adopted = adoptedIn(files, dialect)
  throw new Failure(
    'input',
    adopted === undefined
      ? `${files} already has migrations, and the schema of another tool becomes 0002: name another folder with --files`
      : `${files} already has ${adopted}: ${command('migrate baseline', { to: 2 })} records it in this database`,
  )
}

/**
 * Returns a migration that contains another tool's schema, from the text of its dump.
 * @param file - the name of the dump, for messages.
 * @throws {Failure} for an unusable dump.
 */
export async function adoptedVersion(
  { tool, dialect, schema, table, tables, dump, head }: AdoptableTool,
  text: string,
  file: string,
): Promise<NextVersion> {
  const { adoptedComment, createdTables, dumpedStatements, lintFiles } =
    await import('../../lib/migrations/index.js')
  const statements = dumpedStatements(text, dialect, schema)
  if (statements.length === 0) throw new Failure('input', `${file} has no statement that creates something`)
  const sql = `${statements.join(';\n\n')};\n`
  const description = `adopted_${tool.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_')}`
  const files = { '0002_adopted.up.sql': sql, '0002_adopted.down.sql': DOWN }
  const own = [...(await createdTables(files, dialect, tables)).keys()]
  if (own.length > 0)
    throw new Failure(
      'input',
      `${file} contains ${own.join(' and ')}, which belongs to ${tool} itself and must not become part of a migration: dump the schema again without it: ${dump} > ${file}`,
    )
  const findings = await lintFiles(files, dialect)
  const rules = [...new Set(findings.filter(({ level }) => level === 'danger').map(({ rule }) => rule))]
  const allowed = rules.length === 0 ? '' : `-- ashlar:allow ${rules.join(', ')}\n`
  const up = `-- The schema that ${tool} made, as it was dumped.\n${adoptedComment(table, head)}\n${allowed}${sql}`
  return { description, sqlFor: () => ({ up, down: DOWN }) }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new Failure('input', `${file} cannot be read: ${readingReasonOf(error)}`, { cause: error })
  }
}
