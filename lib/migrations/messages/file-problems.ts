import type { CommandLine } from '../../text/command-line.js'
import { toFileNumber } from './numbers.js'
import type { KindsOf, Messages } from './messages.js'

/** A problem with files, options or their requirements. */
export type FileProblem = KindsOf<typeof FILE_PROBLEMS>

interface Of {
  file: string
}

const RESERVED =
  '0001 and 8001 to 8999 belong to the framework and are never edited; a module’s first migration is 0002'
const DEFAULT_EXPORT =
  "write import { backfill } from 'ashlar/migrations', and export default backfill({ table, reads, sets, row })"

/** The sentences of problems, with advice. `version` is a name such as `0002_widgets`. */
export const FILE_PROBLEMS = {
  badlyNamed: (v: Of) =>
    `${v.file}: name it NNNN_description.up.sql or NNNN_description.down.sql, such as 0002_widgets.up.sql`,
  badNumber: (v: Of & { hasFourDigits: boolean }) =>
    `${v.file}: ${v.hasFourDigits ? 'numbers are 0001 to 7999, 8001 to 8999 (the framework’s) and 9001 to 9999 (generated)' : 'the number must have four digits, padded with zeros'}`,
  hasNul: (v: Of) => `${v.file}: has a NUL character`,
  notUtf8: (v: Of) => `${v.file}: is not UTF-8`,
  unreadable: (v: Of & { code: string }) => `${v.file}: cannot be read (${v.code})`,
  twoUpMigrations: (v: Of & { other: string }) => `${v.file}: ${v.other} is already the up migration`,
  noUpMigration: (v: { version: string }) =>
    `${v.version}: ${v.version}.down.sql exists, but ${v.version}.up.sql does not`,
  reserved: (v: { version: string; framework?: string }) =>
    `${v.version}: ${RESERVED}${v.framework === undefined ? '' : `; this release has ${v.framework} there`}`,
  /**
   * `behind`: the later versions, from either branch. `applied`: the versions among all of these that the
   * database has.
   */
  duplicateNumber: (
    v: { versions: readonly [string, string]; behind: readonly string[]; applied?: readonly string[] },
    command: CommandLine,
  ) => {
    const [first, second] = v.versions
    const { behind, applied = [] } = v
    const taken = `${second}: ${first} already has the number ${second.slice(0, 4)}, as happens when two branches use the same number`
    const rest = v.versions.filter((name) => !applied.includes(name))
    const renumber = `${command('migrate renumber')} ${rest.join(' or ')}`
    const text =
      behind.length === 0
        ? `${taken}: give the next number to the migration that no database has applied: ${renumber}`
        : `${taken}: name every migration of the branch that is merged last, in its order, if no database has applied them: ${renumber}, followed by those of that branch among ${behind.join(', ')}`
    return applied.length === 0 ? text : `${text}; this database has applied ${applied.join(', ')}`
  },
  gap: (v: { missing: number; before: number; isByHand: boolean }, command: CommandLine) => {
    const orMove = `, or, if no database has applied the migrations after it, close the gap with ${command('migrate renumber')}`
    return `${toFileNumber(v.missing)} is missing before ${toFileNumber(v.before)}: numbers have no gaps; restore its files${v.isByHand ? orMove : ''}`
  },
  noFolder: (v: { folder: string; code: string }, command: CommandLine) =>
    `the folder ${v.folder} cannot be read (${v.code}): name the folder with the .sql files with --files; "${command('migrate new', {}, 'NAME')}" creates one`,
  otherEngines: (v: { folder: string; engines: readonly string[]; dialect: string; own: string }) =>
    `${v.folder} only has files for ${v.engines.join(' and ')}, but the database is ${v.dialect}: create the folder ${v.own}`,
  noFileFor: (v: { prefix: string }) => `there is no file in ${v.prefix}`,
  /** The folder has no version of the module, but the database has some. */
  emptyFolder: (v: { applied: readonly string[]; more: number }) =>
    `there is no migration, but the database has ${[...v.applied, ...(v.more === 0 ? [] : [`${v.more} more`])].join(', ')}: name the folder that has them with --files`,
  /** A file that lint rejects. */
  refused: (v: Of & { line: number; rule: string; why: string }) =>
    `${v.file}:${v.line}: ${v.why} (${v.rule})`,
  noBackfill: (v: Of & { hasDefault: boolean }) =>
    `${v.file}: ${v.hasDefault ? 'its default export is not a backfill, or comes from another copy of ashlar' : 'has no default export'}: ${DEFAULT_EXPORT}`,
  noTypeScript: (v: Of & { node: string }) =>
    `${v.file}: this Node.js (${v.node}) does not load TypeScript: use 22.18 or later, or ship the compiled file`,
  notLoaded: (v: Of & { why: string; isImport: boolean }) =>
    `${v.file}: cannot be loaded: ${v.why}: ${v.isImport ? 'install what it imports in a folder where the file finds it, for example with npm install in a parent folder' : `run it with node to see the line, and ${DEFAULT_EXPORT}`}`,

  // Options and their requirements.
  badTimeout: (v: { option: string; most: number }) =>
    `${v.option} must be a whole number of milliseconds from 1 to ${v.most}`,
  badSchema: () => 'schema must be a name of 1 to 63 bytes',
  schemaOfServer: (v: { schema: string }) => `schema ${v.schema} belongs to PostgreSQL`,
  noSchemas: () =>
    'schema is for PostgreSQL: on MySQL each module uses the database of its connection string',
  noDatabaseNamed: (v: { example: string }) => `the connection string names no database: ${v.example}`,
  badUrlParameter: (v: { why: string }) => `the connection string: ${v.why}`,
  badScheme: () => 'the connection string must start with postgres:// or mysql://',
  fileOfDsn: () =>
    'an fsnotify:// URL names a file: pass the result of resolveDsn of ashlar/persistence instead',
  noVersionedSql: () =>
    'SQLite does not run SQL migrations. It is for development and tests, where tables are created ' +
    'automatically from the entities; use PostgreSQL or MySQL to run migrations',
  missingPackage: (v: { engine: string; package: string }) =>
    `${v.engine} needs the package ${v.package}: npm install ${v.package}`,
  scratchOfOtherEngine: () => 'the scratch database is on another engine than the database',
  scratchNotEmpty: () =>
    'the scratch database is not empty, and its contents would be dropped; name an empty database',
} satisfies Messages
