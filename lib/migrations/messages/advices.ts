import { commandLine, type CommandLine } from '../../text/command-line.js'
import { type KindsOf, type Messages, writtenBy } from './messages.js'

/** The remedy for a server error or a connection error. */
export type Advice = KindsOf<typeof ADVICES>

type ServerName = 'PostgreSQL' | 'MySQL'

const READ_ONLY = {
  PostgreSQL:
    'The database accepts no writes: use the address of the primary, or turn default_transaction_read_only off for this database and user',
  MySQL:
    'The server accepts no writes: use the address of the primary, or turn read_only and transaction_read_only off',
}

const RIGHTS = {
  PostgreSQL: {
    read: (schema: string, table: string) =>
      `grant it USAGE on schema ${schema} and SELECT on ${schema}.${table}`,
    change: (schema: string, table: string) =>
      `connect as the owner of schema ${schema} and of its tables, because only their owner can alter or drop tables; ` +
      `a user who owns none needs USAGE and CREATE on the schema (CREATE on the database while the schema does not exist), SELECT, ` +
      `INSERT, UPDATE and DELETE on ${schema}.${table} where it is there, and what the files need: grant it these`,
  },
  MySQL: {
    read: (_: string, table: string) => `grant it SELECT on ${table}`,
    change: () =>
      'grant it ALL PRIVILEGES on the database, or connect as a user that has them; a server-wide privilege, such as SUPER, is granted separately, ' +
      'and triggers and functions need SUPER or log_bin_trust_function_creators = 1 if the binary log is on',
  },
}

const TLS = {
  PostgreSQL: 'turn on TLS on the server, or change sslmode in the connection string',
  MySQL: 'turn on TLS on the server, or remove ssl from the connection string',
}

/** One text for each remedy. */
export const ADVICES = {
  // Remedies for a failed statement.
  /** `table` is the version table. */
  lacksRight: (v: { server: ServerName; purpose: 'read' | 'change'; schema: string; table: string }) =>
    `The connection string's user lacks a privilege: ${RIGHTS[v.server][v.purpose](v.schema, v.table)}`,
  readOnly: (v: { server: ServerName }) => READ_ONLY[v.server],
  connectionLost: () =>
    'The connection to the server is lost: the session was ended, or the server or the network went away',
  notSent: () => 'The run was cancelled before it',
  cancelled: () => 'The run was cancelled, and the server has stopped the statement',
  lockTimeout: (v: { ms: number; blockers?: string | undefined }) =>
    `Another session held a lock for longer than the lock timeout of ${v.ms} ms: ${v.blockers === undefined ? 'run' : `${v.blockers}. Run`} again when it has finished`,
  statementTimeout: (v: { ms: number }) =>
    `It was ended by the statement timeout of ${v.ms} ms, or by a user: raise the timeout with --statement-timeout, or use smaller steps`,
  concurrentTimeout: (v: { ms: number }) =>
    `It was ended by the timeout of ${v.ms} ms for such statements, or by a user: raise it with --concurrent-timeout`,
  otherSchema: (v: { schema: string }) =>
    `A name without a schema is looked up in the module's schema ${v.schema} and among extensions. Use --module or --schema for another schema`,
  readBySearch: (_: object, command: CommandLine) =>
    `If search_vector reads the column, first roll back the search migrations (${command('migrate down')} with --to and the last migration before them), and run up again: it creates the vector again`,
  dependedOn: () => 'Drop what depends on it in an earlier migration, and create it again in a later one',
  unsafeTriggers: () =>
    'Citus creates a trigger on a distributed table, which @RenamedFrom() needs, only after ALTER DATABASE … SET citus.enable_unsafe_triggers TO on',

  // Remedies for a failed connection.
  login: () =>
    'check the user and password in the connection string, and that the server accepts them from this host',
  mayNotConnect: () => 'let the database owner grant the user the right to connect to it',
  noSuchDatabase: () => 'create the database first, or name another',
  noFreeConnection: () => 'run again when connections are free',
  starting: () => 'run again when the server has started',
  noTls: (v: { server: ServerName }) => TLS[v.server],
  notReached: (v: { server: ServerName }) => `check host and port, and that ${v.server} runs there`,
  unknownHost: () => 'check the host, and write @, :, / and # of a password as %40, %3A, %2F and %23',
} satisfies Messages

/**
 * Returns the text of a remedy, or an empty string if there is none.
 *
 * @param command - formats an `ashlar` command in the text.
 */
export const adviceText = (advice: Advice | undefined, command: CommandLine = commandLine): string =>
  advice === undefined ? '' : writtenBy(ADVICES, advice, command)
