import { commandLine, type CommandLine } from '../../text/command-line.js'
import { type KindsOf, type Messages, writtenBy } from './messages.js'

/** The remedy for a server error or a connection error. */
export type Advice = KindsOf<typeof ADVICES>

type ServerName = 'PostgreSQL' | 'MySQL'

const READ_ONLY = {
  PostgreSQL:
    'The database takes no writes: hand over the address of the primary, or turn default_transaction_read_only off for this database and user',
  MySQL:
    'The server takes no writes: hand over the address of the primary, or turn read_only and transaction_read_only off',
}

const RIGHTS = {
  PostgreSQL: {
    read: (schema: string, table: string) =>
      `grant it USAGE on schema ${schema} and SELECT on ${schema}.${table}`,
    change: (schema: string, table: string) =>
      `connect as the owner of schema ${schema} and of its tables, because only their owner alters or drops tables; ` +
      `a user who owns none needs USAGE and CREATE on the schema (CREATE on the database while it is not there), SELECT, ` +
      `INSERT, UPDATE and DELETE on ${schema}.${table} where it is there, and what the files need: grant it these`,
  },
  MySQL: {
    read: (_: string, table: string) => `grant it SELECT on ${table}`,
    change: () =>
      'grant it ALL PRIVILEGES on the database, or connect as a user that has them; a right of the whole server, such as SUPER, is granted apart, ' +
      'and triggers and functions with a binary log need SUPER or log_bin_trust_function_creators = 1',
  },
}

const TLS = {
  PostgreSQL: 'turn TLS on there, or change sslmode in the connection string',
  MySQL: 'turn TLS on there, or take ssl out of the connection string',
}

/** One text for each remedy. */
export const ADVICES = {
  // Remedies for a failed statement.
  /** `table` is the version table. */
  lacksRight: (v: { server: ServerName; purpose: 'read' | 'change'; schema: string; table: string }) =>
    `The user of the connection string lacks a right: ${RIGHTS[v.server][v.purpose](v.schema, v.table)}`,
  readOnly: (v: { server: ServerName }) => READ_ONLY[v.server],
  connectionLost: () =>
    'The connection to the server is lost: the session was ended, or the server or the network went away',
  notSent: () => 'The run was cancelled before it',
  cancelled: () => 'The run was cancelled, and the server has stopped the statement',
  lockTimeout: (v: { ms: number; blockers?: string | undefined }) =>
    `Another session held a lock for longer than the lock timeout of ${v.ms} ms: ${v.blockers === undefined ? 'run' : `${v.blockers}. Run`} again when it has ended`,
  statementTimeout: (v: { ms: number }) =>
    `It was ended by the statement timeout of ${v.ms} ms, or by a user: raise it with --statement-timeout, or do it in smaller steps`,
  concurrentTimeout: (v: { ms: number }) =>
    `It was ended by the timeout of ${v.ms} ms for such statements, or by a user: raise it with --concurrent-timeout`,
  otherSchema: (v: { schema: string }) =>
    `A name without a schema is looked for in the schema ${v.schema} of the module, and among extensions: --module or --schema names another schema`,
  readBySearch: (_: object, command: CommandLine) =>
    `Where search_vector reads the column, roll the versions of search back first (${command('migrate down')} with --to and the last version before them), and run up again: it makes the vector anew`,
  dependedOn: () =>
    'Drop what depends on it in a version before this one, and create it again in a version behind it',
  unsafeTriggers: () =>
    'Citus creates a trigger on a distributed table, which @RenamedFrom() needs, only after ALTER DATABASE … SET citus.enable_unsafe_triggers TO on',

  // Remedies for a failed connection.
  login: () => 'check user and password of the connection string, and that the server lets them in from here',
  mayNotConnect: () => 'let the owner of the database grant the user the right to connect to it',
  noSuchDatabase: () => 'create the database first, or name another',
  noFreeConnection: () => 'run again when connections are free',
  starting: () => 'run again when the server has started',
  noTls: (v: { server: ServerName }) => TLS[v.server],
  notReached: (v: { server: ServerName }) => `check host and port, and that ${v.server} runs there`,
  unknownHost: () => 'check the host, and write @, :, / and # of a password as %40, %3A, %2F and %23',
} satisfies Messages

/**
 * Returns the text of a remedy; `''` if there is none.
 * @param command - formats an `ashlar` command in the text.
 */
export const adviceText = (advice: Advice | undefined, command: CommandLine = commandLine): string =>
  advice === undefined ? '' : writtenBy(ADVICES, advice, command)
