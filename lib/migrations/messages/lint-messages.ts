import type { Messages } from './messages.js'

/** The reasons why running code fails after a statement: the rules that the plan reports. */
export const BREAKING = {
  'ban-drop-column': 'code that still reads or writes the column fails',
  'ban-drop-table': 'code that still uses the table fails',
  'renaming-column': 'code that still uses the old name fails at once',
  'renaming-table': 'code that still uses the old name fails at once',
  'renaming-schema': 'code that still uses the old name fails at once',
  'renaming-enum-value': 'code that still writes the old value fails at once',
  'ban-drop-not-null': 'running code does not expect NULL',
  'adding-required-field': 'fails if the table has rows, and running code does not fill the column',
} as const

const CLIENT_COMMANDS = {
  copy: 'COPY … FROM STDIN needs a client that streams the rows: use INSERT',
  psql: 'backslash commands belong to psql, not to SQL: remove them',
  delimiter:
    'DELIMITER belongs to the mysql program, not to SQL: remove it; BEGIN … END bodies are recognized without it',
  source: 'SOURCE belongs to the mysql program, not to SQL: put the statements here',
}

const ELSEWHERE = {
  object: 'creates or drops an object outside the migrated database: do it outside the migrations',
  server: 'changes the whole server, which no migration can undo: do it outside the migrations',
  subscription:
    'cannot run in a transaction, in which every file runs: change the subscription outside the migrations, or create it WITH (create_slot = false), set publications WITH (refresh = false), and ALTER SUBSCRIPTION … SET (slot_name = NONE) before the DROP',
  use: "a migration stays in its connection string's database: remove the USE",
}

const PRIMARY_KEYS = {
  locks:
    'builds its index under a lock: CREATE UNIQUE INDEX CONCURRENTLY first, then ADD CONSTRAINT … PRIMARY KEY USING INDEX',
  rewrites:
    'rewrites the table in the order of the new key: run it when traffic is low, or create a new table',
}

const WATCH = 'into its own file, and monitor it while it runs'
const WATCH_ALONE =
  'monitor it while it runs; if the host died and the statement is done, migrate resolve --applied records that'

/** The reasons why a second run cannot recognize a statement. */
const UNRECOVERABLE = {
  rename: () => 'create the new name beside the old one',
  create: () => 'CREATE OR REPLACE, or IF NOT EXISTS',
  drop: () => 'DROP … IF EXISTS',
  move: (isAlone: boolean) => (isAlone ? WATCH_ALONE : `put it ${WATCH}`),
  constraint: (isAlone: boolean) => `put it into CREATE TABLE, or ${isAlone ? WATCH_ALONE : WATCH}`,
}

export type ClientCommand = { readonly what: keyof typeof CLIENT_COMMANDS }
export type Elsewhere = { readonly what: keyof typeof ELSEWHERE }
export type PrimaryKey = keyof typeof PRIMARY_KEYS
export type Unrecoverable = keyof typeof UNRECOVERABLE

const NEXT_FILE = 'run VALIDATE CONSTRAINT in its own file'
const QUIET_HOUR = 'run it when traffic is low'
const UNUSED = 'and its data is lost: drop it one release after the code stopped using it'

interface Rewriting {
  seconds: number
  /** The number of rows that can be rewritten within the statement timeout. */
  rows: number
}

function rewriting({ seconds, rows }: Rewriting): string {
  const millions = rows / 1_000_000
  const about = millions >= 1 ? `${Math.round(millions)} million` : String(Math.round(millions * 1000) * 1000)
  return (
    `rewrites the whole table under a lock; at about ${about} rows the statement timeout of ${seconds} s stops it: ` +
    'on a larger table raise the timeout for this run, when traffic is low'
  )
}

/** One message for each lint rule: the problem and the alternative. */
export const LINTS = {
  // Files that no engine can run.
  unterminated: (v: { why: string }) => v.why,
  'empty-file': () => 'has no statement: an empty migration is usually a mistake',
  'empty-down': () =>
    'is empty, so a rollback would only forget the migration and leave its changes: write how to roll it back, or a comment that explains why there is nothing to do',
  'unknown-rule': (v: { rule: string }) => `ashlar:allow names ${v.rule}, which is not a rule`,
  'transaction-control': (v: { commits: string }) =>
    `${v.commits}: remove BEGIN, COMMIT, ROLLBACK, SAVEPOINT or LOCK TABLES, and move what must commit separately to its own file`,
  'client-command': (v: ClientCommand) => CLIENT_COMMANDS[v.what],
  'leaves-the-database': (v: Elsewhere) => ELSEWHERE[v.what],
  /** `problem` is the mistake in the comment that marks a backfill. */
  'backfill-form': (v: { problem?: string }) =>
    v.problem ??
    'a backfill must be one UPDATE of one table in the up migration, without WITH, ORDER BY, LIMIT and RETURNING: the chunks are made from its primary key',
  /** `own` is one of the engine's own tables. */
  'engine-state': (v: { own?: string }) =>
    v.own === undefined
      ? 'would release the lock that keeps other hosts from migrating at the same time: remove it'
      : `${v.own} belongs to the migration engine: do not change it`,
  'non-transactional': () =>
    'cannot run inside a transaction: it must be the only statement in its file; move the others to their own files',
  'index-needs-a-name': () =>
    'name the index: without a name, what a failed run leaves behind cannot be found and dropped',
  'enum-value-in-use': (v: { value: string }) =>
    `uses ${v.value}, which this file adds to an enum: PostgreSQL accepts a new value only after the file has committed (55P04). Use it in its own file, or allow the rule if the string has another type`,
  'torn-body': () => 'starts with END: put the body of the routine or trigger between BEGIN and END',

  // Statements that rewrite or lock a table.
  'adding-field-with-default': () =>
    'computes the default for every row, rewriting the table under a lock: add the column without it, ' +
    'SET DEFAULT for new rows, and fill the old ones in batches',
  'adding-stored-generated-column': rewriting,
  'adding-search-vector': rewriting,
  'adding-auto-increment-column': () =>
    'numbers every row, rewriting the table under a lock: create a new table, or fill a plain column in batches',
  'adding-primary-key-constraint': (v: { how: PrimaryKey }) => PRIMARY_KEYS[v.how],
  'changing-column-type': () =>
    'may rewrite the table under a lock, and running code reads the old type: add a column of the new type, ' +
    'write both, fill it in batches, then switch',
  'require-concurrent-index-creation': () =>
    'blocks every write to the table while the index is built: CREATE INDEX CONCURRENTLY, in its own file',
  'require-concurrent-index-deletion': () =>
    'blocks every read and write of the table while it waits: DROP INDEX CONCURRENTLY, in its own file',
  'require-concurrent-reindex': () =>
    'blocks every write to the table while the index is rebuilt: REINDEX … CONCURRENTLY, in its own file',
  'require-concurrent-partition-detach': () =>
    'locks the whole partitioned table: DETACH PARTITION … CONCURRENTLY, in its own file',
  'adding-foreign-key-constraint': (v: { isCopied?: boolean }) =>
    v.isCopied === true
      ? 'copies the table and blocks every write meanwhile: declare the key in CREATE TABLE'
      : `locks both tables while every row is checked: add it NOT VALID, then ${NEXT_FILE}`,
  /** `isValidated`: the same file adds the constraint as NOT VALID and validates it. */
  'constraint-missing-not-valid': (v: { isValidated: boolean }) =>
    v.isValidated
      ? `checks every row while the file still holds the lock of ADD CONSTRAINT … NOT VALID: ${NEXT_FILE}`
      : `locks the table while every row is checked: add it NOT VALID, then ${NEXT_FILE}`,
  'disallow-unique-constraint': () =>
    'builds its index under a lock: CREATE UNIQUE INDEX CONCURRENTLY first, then ADD CONSTRAINT … UNIQUE USING INDEX',
  'adding-exclusion-constraint': () =>
    `locks the table while its index is built, and cannot be added NOT VALID: ${QUIET_HOUR}`,
  'adding-not-null-field': () =>
    'locks the table while every row is read: add CHECK (… IS NOT NULL) NOT VALID first; a later file runs ' +
    'VALIDATE CONSTRAINT and then SET NOT NULL, which uses the constraint',
  'prefer-repack': () =>
    'rewrites the table and blocks all access to it meanwhile: plain VACUUM, or a tool such as pg_repack',
  /** `isOption`: the lock is an option of MySQL's ALTER TABLE. */
  'locking-a-table': (v: { isOption?: boolean }) =>
    v.isOption === true
      ? 'blocks every write to the table: use LOCK=NONE, which fails instead of waiting if it is not possible'
      : 'blocks other clients until the file has finished: leave locking to the statements',
  'algorithm-copy': () => 'copies the table and blocks every write meanwhile: ALGORITHM=INPLACE or INSTANT',
  'rebuilding-a-table': () => `rebuilds the whole table and blocks every write meanwhile: ${QUIET_HOUR}`,
  'adding-volatile-default': () =>
    'computes the default for every row, copying the table, and breaks statement-based replication: add the ' +
    'column without it, set the default for new rows, and fill the old rows in batches',
  'backfill-with-ddl': () =>
    'changes rows while the file holds the lock of its ALTER TABLE: move it to its own file, in batches',

  // Statements that break running code or lose data.
  'ban-drop-column': () => `${BREAKING['ban-drop-column']}, ${UNUSED}`,
  'ban-drop-table': () => `${BREAKING['ban-drop-table']}, ${UNUSED}`,
  'ban-truncate-cascade': () => 'empties every table that then refers to this one: name the tables',
  'ban-drop-cascade': () =>
    'also drops everything that then depends on it, such as views and foreign keys: drop these by name, without CASCADE',
  'renaming-column': () =>
    `${BREAKING['renaming-column']}: add a column, write both, fill it, switch over, drop the old one`,
  'renaming-table': () =>
    `${BREAKING['renaming-table']}: create a new table and write both, or leave a view under the old name`,
  'renaming-schema': () => `${BREAKING['renaming-schema']}: create a new schema and move step by step`,
  'renaming-enum-value': () =>
    `${BREAKING['renaming-enum-value']}: add a value, update the rows, then stop using the old value`,
  'ban-drop-not-null': () => `${BREAKING['ban-drop-not-null']}: first deploy code that accepts NULL`,
  'adding-required-field': () =>
    `${BREAKING['adding-required-field']}: give it a DEFAULT, or make it nullable at first`,
  'one-ddl-per-file': () =>
    'MySQL cannot undo the DDL before it if this one fails: use one DDL statement per file',
  'unrecoverable-statement': (v: { what: Unrecoverable; isAlone: boolean }) =>
    `if the host dies during this statement, a second run of it fails and blocks every later run: ${UNRECOVERABLE[v.what](v.isAlone)}`,
  'session-state': () =>
    'what it sets is lost when a run resumes after a failure: set it inside the statement that needs it',
  'engine-without-transactions': () =>
    'rows of such a table are not part of any transaction, so a failed file leaves them behind: ENGINE=InnoDB',

  // Statements that cause problems later.
  'ban-char-field': (v: OfColumn) =>
    `the type of ${v.column} is padded with blanks, which count in some comparisons and not in others: use text`,
  'prefer-bigint-over-int': (v: OfColumn) =>
    `the type of ${v.column} ends at 2147483647, and widening it later rewrites the table: use bigint`,
  'prefer-identity': (v: OfColumn) =>
    `the type of ${v.column} creates a separate sequence with its own owner and privileges: GENERATED BY DEFAULT AS IDENTITY`,
  'prefer-timestamptz': (v: OfColumn) =>
    `the type of ${v.column} does not store the time zone, and clients read it differently: use timestamptz`,
  'adding-json-column': (v: OfColumn) =>
    `the type of ${v.column} has no equality, so DISTINCT and GROUP BY fail on rows that contain it: use jsonb`,
  'identifier-too-long': (v: { longest: string }) =>
    `a name is longer than ${v.longest}: PostgreSQL truncates it silently, MySQL rejects it; shorten it`,
  'require-enum-value-ordering': () =>
    'sorts after every other value: add BEFORE or AFTER with the neighboring value',
  'ban-domain-constraint': () =>
    'a domain constraint cannot be changed without locking every table that uses the domain: put the check on the table',
  'three-byte-utf8': () => 'cannot hold every character: utf8mb4',
  'password-in-a-file': () =>
    'the password stays readable in the file and in the migration table: create the user outside the migrations',
} satisfies Messages

interface OfColumn {
  column: string
}

export type LintRule = keyof typeof LINTS
