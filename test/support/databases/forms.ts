import { askedBackends } from '../running/asked.js'
import { drilling } from '../drill.js'

/** Another variant of a backend, which runs almost the same code. */
export type Form = 'coalescing' | 'pooler' | 'citus' | 'mysql8' | 'better-sqlite3'

/**
 * The subjects that `npm test` runs in each variant, with the code that differs there. A line names the
 * subject of a suite, or a part of it after a colon. The stress test runs everything in every variant, and so
 * does a run whose `BACKENDS` names the variant.
 */
export const FORMS: Readonly<Record<Form, Readonly<Record<string, string>>>> = {
  coalescing: {
    'repository: states': 'get, create, delete and update of one row share statements',
    'repository: updates':
      'an update shares its statement with others of the same mask, and compares its etag there',
    'repository: clockJumps': 'an update time is compared in the shared statement as well',
    'repository: modifications': 'what modify reads shares a statement, what it writes does not',
    'repository: rowConditions': 'a call with a condition shares no statement',
    'repository: tenancy': 'the tenant travels with each call, and is compared again in its row',
    'repository: values': 'values are bound as lists of a column’s type; credentials are found together',
    'repository: signals': 'a statement of several is cancelled when all of its calls have left',
    'repository: transactions': 'calls of a transaction share no statement',
    'repository: increments': 'an increment shares no statement',
    'repository: atomicity': 'a write of several that failed is sent again call by call',
    'repository: killed': 'a read of several is not sent again once the connection is lost',
    'the hooks of an entity: writes': 'a write with hooks shares no statement',
    'the hooks of an entity: loads': 'a read of several calls the hooks of each row',
    'the events of changes: changes': 'the event goes along in the statement of several',
    'deletes of resources that others refer to: refusals': 'a resource that others refer to shares no delete',
    'deletes of resources that others refer to: removals': 'a row that nobody refers to shares its delete',
    'the parent in a name': 'a read of several is refused for the parent of one',
    'tenants of any type: spellings': 'a tenant that is not canonical travels with the calls of others',
    'tenants of any type: crowds':
      'tenants are bound as lists of a column’s type, and compared again as text',
    'spellings of a tenant': 'a tenant that is not canonical travels with the calls of others',
    'unique rules': 'a create of several that conflicts is sent again call by call',
    defaults: 'the values of a create of several come back',
    'NULL in existing tables': 'a read of several reads NULL as the zero value',
    'what a table changes by itself': 'its writes share no statement',
    'texts that a collation takes for the same: crowds':
      'calls are joined to rows by the collation of the column, and by code point',
    'a reference': 'a write that refers to a row shares no statement',
    keys: 'keys of every type are bound as one list, and compared again in their rows',
    'merged reads': 'its subject',
    'a backend that merges': 'its subject',
    'the SQL of a call that nobody waits for any more':
      'a statement of several is cancelled when all have left',
    'callers with conflicting writes': 'writes of one row share a statement or wait for it',
    'any history': 'random calls find what shares a statement and what does not',
    'tenants with equal keys and relations': 'the tenant travels with each call',
    'securityCheck of decisions by row': 'a restricted call shares no statement',
  },
  pooler: {
    'repository: states': 'no statement is prepared by name, and any session may come',
    'repository: values': 'bytes and floats are selected so that no setting of a session matters',
    'repository: tokens': 'exact values of a token do not depend on settings of a session',
    'repository: signals': 'a cancel goes through the pooler',
    'repository: transactions': 'a transaction begins on any session',
    'repository: locks': 'a lock is waited for on a session that others had before',
    'repository: managers': 'the manager of TypeORM sends its own statements on such sessions',
    'values of what a relation leads to': 'values inside of a text do not depend on settings of a session',
    'the manager of a transaction': 'the manager of TypeORM sends its own statements on such sessions',
    SqlOperationStore: 'no statement of the store is prepared by name',
    SqlIdempotencyStore: 'no statement of the store is prepared by name',
    'a database that takes no writes any more': 'the pooler does not report that the server became read-only',
    'metrics of a pool': 'its subject',
    'a repository behind a transaction pooler': 'its subject',
    LISTEN: 'its subject',
    'spellings of a key': 'a key is bound with the type of its column on any session',
    'repositoryContract of keys': 'a key is bound with the type of its column on any session',
    keys: 'a key is bound with the type of its column, in statements that are not prepared by name',
    'features of keys':
      'a key is bound with the type of its column, in statements that are not prepared by name',
  },
  citus: {
    repository:
      'a statement names the tenant as a value, and a write of several rows takes several statements',
    'a reference': 'a shared row is read without a lock',
    'what a caller may refer to': 'a shared row is read without a lock',
    'a reference and a delete at the same time': 'a shared row is read without a lock',
    'deletes of resources that others refer to': 'the keys of each level are read before its statement',
    'a CASCADE from a resource that can be undeleted to one that cannot':
      'the keys of each level are read before its statement',
    'a rule of what comes back with its parent': 'the keys of each level are read before its statement',
    'references that state no type': 'a shared row is read without a lock',
    'relations across tenants': 'related rows are read by a second statement',
    'a page with many relations': 'related rows are read by a second statement',
    'unique rules': 'an index contains the tenant, and public ids have a table of their own',
    repositoryContract: 'its subject',
    'repositoryContract of keys': 'its subject',
  },
  mysql8: {
    'repository: locks':
      'MySQL takes NOWAIT and SKIP LOCKED after FOR SHARE, MariaDB after LOCK IN SHARE MODE',
    'the hooks of an entity: subscribers':
      'the manager of TypeORM sends other statements to MySQL than to MariaDB',
    'the manager of a transaction': 'the manager of TypeORM sends other statements to MySQL than to MariaDB',
    executorOf: 'the dialect is told by the type of the DataSource and the version of the server',
    'the tables of resources': 'MySQL has no CREATE INDEX IF NOT EXISTS, and a collation of another name',
    'tables made by the files of migrate new': 'the collation has another name',
    'a table': 'the collation has another name',
    'indexes that cannot be made': 'MySQL has no CREATE INDEX IF NOT EXISTS',
    'a column that has to be compared exactly': 'each server refuses the collation of the other',
    'a column without a type, of a list, a map or a message':
      'JSON is a type in MySQL, and a text with a check in MariaDB',
    'texts that a collation takes for the same: tenants':
      'its exact collation has another name, so that texts are compared by their bytes',
    keys: 'the type of a column has another name in the catalogue',
    'features of keys': 'the type of a column has another name in the catalogue',
    'spellings of a key': 'the type of a column has another name in the catalogue',
    'repositoryContract of keys': 'the type of a column has another name in the catalogue',
    'a repository':
      'its start reads the catalogue, where JSON is a type in MySQL, and a text with a check in MariaDB',
  },
  // It runs the same statements as sqlite3, but binds numbers as floats, returns rows by position, and blocks
  // the process.
  'better-sqlite3': {
    'repository: states': 'how many rows a statement changed, and which came back',
    'repository: values': 'numbers are bound as floats, unless they are made integers',
    'repository: filters': 'numbers are bound as floats, unless they are made integers',
    'repository: tokens': 'numbers are bound as floats, unless they are made integers',
    'repository: signals': 'a statement cannot be interrupted',
    'repository: transactions': 'statements end in the turn in which they begin',
    'repository: increments': 'numbers are bound as floats, unless they are made integers',
    'repository: managers': 'the manager of TypeORM gets its results in another form',
    'the hooks of an entity: subscribers': 'the manager of TypeORM gets its results in another form',
    'the manager of a transaction': 'the manager of TypeORM gets its results in another form',
    'any history': 'random calls find what differs',
    executorOf: 'its subject',
    transaction: 'a refused COMMIT, and statements that end in the turn in which they begin',
    constraintError: 'errors have codes of their own',
    'constraintError of a trigger': 'errors have codes of their own',
    'what is said of a statement that fails': 'errors have codes and texts of their own',
    'a database that is full': 'errors have codes of their own',
    SqliteDataSource: 'its subject',
    'bytes that synchronize would make a text of': 'bytes are returned by the package',
    'text that no column can hold': 'texts are bound by the package',
    SqlOperationStore: 'bytes and times are bound and returned by the package',
    SqlIdempotencyStore: 'bytes and times are bound and returned by the package',
    'a write with a hook on SQLite': 'statements end in the turn in which they begin',
  },
}

/**
 * The subjects that `npm test` runs on a few backends, with the reason why the others add nothing. The stress
 * test runs them on all backends, and so does a run whose `BACKENDS` names one.
 */
export const ON_FEW: Readonly<Record<string, readonly [why: string, on: readonly string[]]>> = {
  securityCheck: ['it asks a server, whose repository is asked on each backend', ['memory', 'postgres']],
  'securityCheck of decisions by row': [
    'it asks a server, whose repository is asked for decisions on each backend',
    ['memory', 'postgres'],
  ],
  'the guide to events': ['what its commands do is asked on each engine elsewhere', ['postgres']],
  'a relay that only polls': [
    'how it learns that there is something to deliver is the same on each database',
    ['sqlite', 'postgres'],
  ],
}

/** The names in `BACKENDS` of variants that are separate backends. */
const NAMED: Readonly<Partial<Record<Form, string>>> = {
  pooler: 'pgbouncer',
  mysql8: 'mysql8',
  'better-sqlite3': 'better-sqlite3',
}

/** Returns true if a run includes this subject on the backend. */
export const isAskedOn = (backend: string, subject: string): boolean =>
  drilling || ON_FEW[subject]?.[1].includes(backend) !== false || askedBackends()?.includes(backend) === true

/**
 * Returns true if a run includes this subject, or this part of it, in the variant. A subject is included if
 * one of its parts is.
 */
export function isAskedIn(form: Form | undefined, subject: string, part?: string): boolean {
  const name = form && NAMED[form]
  if (form === undefined || drilling || (name !== undefined && askedBackends()?.includes(name))) return true
  const lines = Object.keys(FORMS[form])
  if (lines.includes(subject)) return true
  return part === undefined
    ? lines.some((line) => line.startsWith(`${subject}: `))
    : lines.includes(`${subject}: ${part}`)
}
