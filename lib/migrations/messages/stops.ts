import type { CommandLine } from '../../text/command-line.js'
import { type Advice, adviceText } from './advices.js'
import { toFileNumber, toFileNumbers } from './numbers.js'
import { type KindsOf, type Messages, writtenBy } from './messages.js'
import { type Remains, remainsText, statements, writtenText } from './remains.js'
import { correction, type StatementFailed, statementText } from './statement-failed.js'

/** The reason why a run stopped or did not begin. */
export type Stop = KindsOf<typeof STOPS>

/** `version` is a name such as `0002_widgets`, and `number` is 2. */
interface Of {
  version: string
}
/** `message` is the server's message, without values from rows. */
interface Said {
  message: string
  sqlState: string
}
/** `cause` is another problem. */
interface Caused {
  cause: { readonly kind: string }
}

/** The sentences of the reasons, with advice. */
export const STOPS = {
  // The connection and the lock.
  noConnection: (
    v: {
      server: string
      address?: { readonly server: string; readonly name: string } | undefined
      reason: string
      advice?: Advice | undefined
      sqlState: string
    },
    command: CommandLine,
  ) => {
    const todo = v.advice === undefined ? '' : `; ${adviceText(v.advice, command)}`
    const place = v.address === undefined ? '' : ` at ${v.address.server}, database ${v.address.name}`
    return `no connection to ${v.server}${place}: ${v.reason}${todo}`
  },
  serverRefused: (
    v: Said & { advice: Advice | undefined; isUndone: boolean; mayBeFile: boolean },
    command: CommandLine,
  ) => {
    const todo = adviceText(v.advice, command)
    const said = v.sqlState === '' ? v.message : `${v.message} (${v.sqlState})`
    if (v.mayBeFile) return `${said}. ${todo === '' ? 'Fix that and run again' : todo}`
    const undone = v.isUndone ? '. Nothing has taken effect except what this run has reported as done' : ''
    return `${said}. ${todo}${undone}. Then run again`
  },
  cancelledConnecting: () => 'cancelled while connecting',
  cancelledWaiting: (v: { holder: string }) => `cancelled while waiting for ${v.holder || 'another host'}`,
  cancelledBefore: (v: Of) => `cancelled before ${v.version}: the migrations before it are done`,
  cancelledBetweenChunks: (v: Of & { file: string; written: number }) =>
    `${v.file}: cancelled between two chunks; ${writtenText(v.written)}: up continues after ${v.written === 1 ? 'it' : 'them'}`,
  lockedTooLong: (v: { holder: string; waitedMs: number }) =>
    `waited ${v.waitedMs} ms for ${v.holder || 'another host'}, which is migrating the same database: run again when it has finished`,
  lockLost: () => 'the lock was lost during the run: run again',
  rowNotWritten: (v: Of & Said) =>
    `${v.version}: its row cannot be written: ${v.message}; another host may be migrating without the lock: run again`,
  pooler: () =>
    'a transaction pooler is between this host and the database and may run each statement in another session, so ' +
    'neither the lock nor the timeouts work. Use the address of the database, or a pool in session mode',
  proxy: () =>
    'a proxy runs each statement in another session, so the lock does not work: use the address of the database',

  // Files and the database's versions.
  unknownVersion: (v: { number: number; known: readonly number[] }) =>
    `${toFileNumber(v.number)} is not a migration of these files: they have ${toFileNumbers(v.known)}`,
  notApplied: (v: { number: number; applied: readonly number[] }) =>
    `${toFileNumber(v.number)} is not an applied migration (applied: ${toFileNumbers(v.applied) || 'none'}): --to names the highest one to keep`,
  /**
   * `applied` and `now` are the first digits of checksums. `apart` is the option that separates the tables of
   * two modules.
   */
  edited: (v: { files: readonly EditedFile[]; apart: string }, command: CommandLine) => {
    const texts = v.files.slice(0, MAX_NAMED).map(({ version, file, isRenamed, applied, now }) => {
      const sums = `(applied ${applied}…, now ${now}…)`
      return isRenamed
        ? `${file} is not ${version}, which was applied ${sums}`
        : `${file} was edited after it was applied ${sums}`
    })
    if (v.files.length > MAX_NAMED) texts.push(`and ${v.files.length - MAX_NAMED} more`)
    const advice = v.files.some(({ isRenamed }) => isRenamed)
      ? 'These may be the files of another database or module: name the right folder with --files'
      : `Restore the file and make the change in a new file; ${command('migrate repair')} shows the edit, and can accept it`
    return `${texts.join('; ')}. ${advice}. If another module has its tables here, give each module ${v.apart}`
  },
  otherName: (v: Of & { name: string }) =>
    `${v.name} is not ${v.version}, which the database has under this number: these may be the files of another database or module: ` +
    `name the right folder with --files; if the file was renamed or renumbered, restore its name`,
  notOfTheseFiles: (v: Of, command: CommandLine) =>
    `${v.version} was applied last, but these files do not have it: use the files that do, or roll it back with ${command('migrate down')}`,
  noDownMigration: (v: Of) =>
    `${v.version}: neither the files nor the migration table have its down migration: add ${v.version}.down.sql`,
  rollBackStopped: (
    v: Caused & { rolledBack: readonly string[]; left: readonly string[]; to: number },
    command: CommandLine,
  ) => {
    const { rolledBack, left, to } = v
    const done =
      rolledBack.length === 0 ? 'No migration is rolled back yet' : `Rolled back: ${rolledBack.join(', ')}`
    return `${causeText(v, command)}. ${done}; not rolled back: ${left.join(', ')}: ${command('migrate down', { to })} continues with them`
  },

  // Problems that must be fixed manually.
  baselineOfVersions: (
    v: { versions: readonly { readonly version: string; readonly standing: keyof typeof STANDINGS }[] },
    command: CommandLine,
  ) =>
    `${v.versions.map(({ version, standing }) => `${version} ${STANDINGS[standing]}`).join(', ')}: a baseline is for a database without migrations; ` +
    `${command('migrate resolve', { applied: true })} records one more`,
  /** `place` is where the module's versions are stored. */
  noVersionRecorded: (v: Of & { place: string }, command: CommandLine) =>
    `no migration is recorded ${v.place}, so ${v.version} cannot be resolved: ` +
    `${command('migrate up')} applies all, and ${command('migrate baseline')} records them in a database that has their tables`,
  nothingToResolve: (v: Of) => `${v.version} is not applied: there is nothing to resolve`,
  appliedAlready: (v: Of) => `${v.version} is already applied`,
  halfDone: (v: Of & { number: number; done: number; of: number }, command: CommandLine) => {
    const left =
      v.done === 0
        ? `its run ended without a report: statement 1 of ${v.of} may be done`
        : `${areDone(v.done)}, of ${v.of}`
    return (
      `${v.version}: ${left}, and MySQL does not undo statements of a file: run ${command('migrate up')} first, with the file unchanged or corrected from statement ` +
      `${v.done + 1} on, and then roll back; or undo manually what is done, and run ${command('migrate resolve', { 'rolled-back': v.number })}`
    )
  },
  beginningEdited: (
    v: Of & { number: number; direction: 'up' | 'down'; done: number; edited: number; table: string },
  ) =>
    `${v.version}.${v.direction}.sql: ${areDone(v.done)}, which MySQL cannot undo, and statement ${v.edited} was edited since: ` +
    `restore that statement from ${v.direction}_sql of migration ${v.number} in ${v.table}, and correct the file from statement ${v.done + 1} on`,

  // Other tools.
  otherDirty: (v: { table: string; number: number }) =>
    `${v.table} marks ${toFileNumber(v.number)} as dirty: fix it with the tool that created it, then run again`,
  otherUnknown: (v: { table: string; number: number }) =>
    `${v.table} records ${toFileNumber(v.number)}, which is missing in these files: run the first time with the files that were applied`,
  notTakenOver: (v: Said & { table: string }) => `${v.table} cannot be taken over: ${v.message}`,
  /** `adopted` is the number of the version in these files that contains the other tool's changes. */
  otherTool: (
    v: { tool: string; table: string; adopted: number | undefined; apart: string },
    command: CommandLine,
  ) => {
    const takeOver =
      v.adopted === undefined
        ? `To take it over, run ${command('migrate adopt')}, which prints the command that dumps it`
        : `These files contain what it created: ${command('migrate baseline', { to: v.adopted })} records that here`
    return `the table ${v.table} shows that ${v.tool} migrates this schema. ${takeOver}; to leave it alone, give the module ${v.apart}`
  },
  /** `comment` is the line that marks a file as containing the other tool's changes. */
  otherToolMoved: (
    v: { tool: string; table: string; count: number; adopted: number; comment: string },
    command: CommandLine,
  ) =>
    `${v.tool} has changed this schema since it was taken over: its table ${v.table} lists ${v.count === 1 ? '1 migration' : `${v.count} migrations`}, ` +
    `but the files contain what ${v.adopted} created. Undo it with ${v.tool}; or write its changes into the next migration, begin that file with the ` +
    `line ${v.comment}, and run ${command('migrate resolve', { applied: true })} with the number of that migration if its changes already exist`,
  namesakes: (v: {
    tables: readonly { readonly table: string; readonly lacks: readonly string[] }[]
    apart: string
  }) =>
    `tables with the framework’s names are other tables: ${v.tables.map(({ table, lacks }) => `${table} lacks ${lacks.join(', ')}`).join('; ')}. ` +
    `Rename them, or give the module ${v.apart}`,

  // Statements and rows.
  statementFailed: (v: StatementFailed, command: CommandLine) => statementText(v, command),
  chunkFailed: (v: Caused & { remains: Remains }, command: CommandLine) =>
    `${causeText(v, command)}. ${remainsText(v.remains).stays}: ${correction(v.remains)}`,
  backfillWithoutKey: (v: Of & { file: string; table: string }) =>
    `${v.file}: ${v.table} has no primary key, or is not a table: a backfill walks through its table by the key`,
  backfillMovesKey: (v: Of & { file: string; column: string }) =>
    `${v.file}: it sets ${v.column}, which is part of the primary key: rows that move would be skipped or written twice`,
  backfillRow: (v: Of & { file: string; row: string; why: string }) =>
    `${v.file}: the row with ${v.row}: ${v.why}`,
  invalidIndexThere: (v: Of & { index: string }) => `${v.version}: ${v.index} already existed and is INVALID`,
  /** `schema` is the module's schema, `found` the schema in which the object was found. */
  foundElsewhere: (v: Of & { name: string; schema: string; found: string }) =>
    `${v.version}: the schema ${v.schema} does not contain ${v.name}. It was found in ${v.found}, which is searched for extensions. ` +
    `No statement of the file has taken effect: correct the name, or write it with its schema if you mean the other one`,
  searchVersionFailed: (v: Caused, command: CommandLine) =>
    `${causeText(v, command)}. If another file drops what it reads, leave this file unchanged: ` +
    `${command('search generate')} writes the vector without it, and the next run then records this migration without running it`,

  // Scratch databases.
  notReplayed: (v: Caused & { isOfFile: boolean }, command: CommandLine) =>
    `the files cannot be replayed into the scratch database: ${causeText(v, command)}${v.isOfFile ? '. Correct the file and run again' : ''}`,
  scratchNotReached: (v: Caused, command: CommandLine) =>
    `${causeText(v, command)}. The comparison creates its own databases, which a pooler such as PgBouncer does not know: give check, diff and ` +
    'new --entities the address of the server itself, or name an empty database with --scratch',
  noRightForScratch: (v: { right: string; sqlState: string }) =>
    `the connection string's user may not create a database for the comparison (${v.sqlState}): ${v.right}`,
} satisfies Messages

interface EditedFile {
  readonly version: string
  readonly file: string
  readonly isRenamed: boolean
  readonly applied: string
  readonly now: string
}

/** The maximum number of names in a message, so that a truncated message still contains advice. */
const MAX_NAMED = 3

const STANDINGS = {
  failed: 'failed here',
  halfRolledBack: 'is half rolled back',
  recorded: 'is recorded',
  applied: 'is applied',
}

/** Returns `statements 1 to 2 are done`. */
const areDone = (done: number): string => `${statements(1, done)} ${done === 1 ? 'is' : 'are'} done`

function causeText({ cause }: Caused, command: CommandLine): string {
  return writtenBy(STOPS, cause as Stop, command)
}
