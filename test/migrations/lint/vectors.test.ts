import { expect } from 'chai'
import { ENGINES } from '../../../lib/migrations/engines.js'
import type { Dialect } from '../../../lib/migrations/files/dialect-name.js'
import { lintFile } from '../../../lib/migrations/lint/lint-file.js'
import { splitStatements } from '../../../lib/migrations/sql/split-statements.js'
import { vectorFile } from '../../support/values/vectors.js'

interface SquawkRow {
  readonly id: string
  readonly rule: string
  readonly case: string
  readonly sql: string
  readonly expect: 'ok' | 'violation'
}

interface StrongRow {
  readonly id: string
  readonly check: string
  readonly op: string
}

interface Vectors {
  readonly squawk_rows: readonly SquawkRow[]
  readonly strong_migrations_rows: readonly StrongRow[]
}

/** Squawk's rules whose name here is another one, because here it says something more. */
const OUR_NAMES: Readonly<Record<string, readonly string[]>> = {
  'adding-field-with-default': ['adding-field-with-default', 'adding-stored-generated-column'],
  'ban-concurrent-index-creation-in-transaction': ['non-transactional'],
  'ban-drop-database': ['leaves-the-database'],
  'ban-alter-domain-with-add-constraint': ['ban-domain-constraint'],
  'ban-create-domain-with-constraint': ['ban-domain-constraint'],
  'ban-uncommitted-transaction': ['transaction-control'],
  'transaction-nesting': ['transaction-control'],
}

/** Rules that say nothing here, and why. */
const LEFT_OUT_RULES: Readonly<Record<string, string>> = {
  'ban-duplicate-column-assignments':
    'PostgreSQL refuses such a statement itself, and nothing of the file stays',
  'prefer-bigint-over-smallint': 'a smallint is a choice of range, not a danger',
  'prefer-robust-stmts':
    'asks for IF EXISTS where a failed file leaves something behind; here its transaction is undone',
  'prefer-text-field':
    'a length limit of a column comes from the resource model; changing it is changing-column-type',
  'require-table-schema': 'a module runs in its own schema, so an unqualified name is the right one',
  'require-timeout-settings': 'the engine sets both timeouts for every file',
}

/** Rows of rules that do hold here, but whose verdict would be another one, and why. */
const LEFT_OUT_ROWS: Readonly<Record<string, string>> = {
  sw018: 'PostgreSQL 11 and what came before it are not supported',
  sw054: 'a comment for squawk means nothing here',
  sw111: 'depends on the server being older than 19; the lock is there on every version',
  sw112: 'depends on the server being older than 19; the lock is there on every version',
}

const ONE_TRANSACTION = 'a file is one transaction already, which this row does not assume'

/** Rows that squawk lets pass and the engine has to refuse or warn about, and why. They are run, too. */
const STRICTER: Readonly<Record<string, string>> = {
  sw053: 'the file commits in the middle',
  sw064: ONE_TRANSACTION,
  sw065: ONE_TRANSACTION,
  sw069: ONE_TRANSACTION,
  sw077: ONE_TRANSACTION,
  sw080: ONE_TRANSACTION,
  sw201: ONE_TRANSACTION,
  sw202: ONE_TRANSACTION,
  sw204: ONE_TRANSACTION,
}

/** Each check of strong_migrations in SQL. `sm10`, raw SQL, is left out: every file here is SQL. */
const STRONG_MIGRATIONS: Readonly<Record<string, readonly [Dialect, string, string]>> = {
  sm01: ['postgres', 'ALTER TABLE t DROP COLUMN c', 'ban-drop-column'],
  sm02: ['postgres', 'ALTER TABLE t ALTER c SET DATA TYPE bigint', 'changing-column-type'],
  sm03: ['postgres', 'ALTER TABLE t RENAME c TO d', 'renaming-column'],
  sm04: ['postgres', 'ALTER TABLE t RENAME TO u', 'renaming-table'],
  sm05: ['postgres', 'DROP TABLE IF EXISTS t CASCADE; CREATE TABLE t (id text)', 'ban-drop-table'],
  sm06: ['postgres', 'ALTER TABLE t ADD COLUMN id bigserial', 'adding-auto-increment-column'],
  sm07: [
    'postgres',
    "ALTER TABLE t ADD search_vector tsvector GENERATED ALWAYS AS (to_tsvector('simple', a)) STORED",
    'adding-search-vector',
  ],
  sm08: ['postgres', 'ALTER TABLE t ADD FOREIGN KEY (a) REFERENCES u (id)', 'adding-foreign-key-constraint'],
  sm09: ['postgres', 'ALTER TABLE t ADD CHECK (a > 0)', 'constraint-missing-not-valid'],
  sm11: ['postgres', 'ALTER TABLE t ADD COLUMN a text; UPDATE t SET a = b', 'backfill-with-ddl'],
  sm12: ['postgres', 'CREATE INDEX i ON t (a)', 'require-concurrent-index-creation'],
  sm13: [
    'postgres',
    'ALTER TABLE t ADD COLUMN u_id text; CREATE INDEX t_u_id ON t (u_id)',
    'require-concurrent-index-creation',
  ],
  sm14: ['postgres', 'ALTER TABLE t ADD CONSTRAINT u UNIQUE (a)', 'disallow-unique-constraint'],
  sm15: [
    'postgres',
    'ALTER TABLE t ADD CONSTRAINT e EXCLUDE USING gist (a WITH &&)',
    'adding-exclusion-constraint',
  ],
  sm16: ['postgres', 'ALTER TABLE t ADD COLUMN a json', 'adding-json-column'],
  sm17: [
    'postgres',
    'ALTER TABLE t ADD COLUMN a uuid DEFAULT gen_random_uuid()',
    'adding-field-with-default',
  ],
  sm18: ['postgres', 'ALTER TABLE t ALTER COLUMN a SET NOT NULL', 'adding-not-null-field'],
  sm19: ['postgres', "ALTER TYPE e RENAME VALUE 'a' TO 'b'", 'renaming-enum-value'],
  sm20: ['postgres', 'ALTER SCHEMA a RENAME TO b', 'renaming-schema'],
  sm21: ['mysql', 'ALTER TABLE t ADD COLUMN a int, ALGORITHM=COPY', 'algorithm-copy'],
  sm22: ['mysql', 'ALTER TABLE t ADD INDEX i (a), LOCK = SHARED', 'locking-a-table'],
  sm23: ['mysql', 'ALTER TABLE t ADD COLUMN a char(36) DEFAULT (uuid())', 'adding-volatile-default'],
}

describe('lint, against the rows of squawk and strong_migrations', () => {
  const file = vectorFile<Vectors>('migration-lint')

  it('has its vectors', function () {
    if (file === undefined) this.skip()
  })

  for (const row of file?.squawk_rows ?? []) {
    if (LEFT_OUT_RULES[row.rule] !== undefined || LEFT_OUT_ROWS[row.id] !== undefined) continue
    const rules = OUR_NAMES[row.rule] ?? [row.rule]
    const isFound = row.expect === 'violation' || STRICTER[row.id] !== undefined
    it(`${row.id} ${isFound ? 'finds' : 'does not find'} ${rules.join(' or ')}: ${row.case}`, () => {
      const found = rulesIn(row.sql, 'postgres').filter((rule) => rules.includes(rule))
      expect(found.length > 0, row.sql).to.equal(isFound)
    })
  }

  it('gives the rows of every rule of squawk a verdict or a reason', () => {
    const rows = file?.squawk_rows ?? []
    const reasons = rows.filter(({ id, rule }) => LEFT_OUT_RULES[rule] ?? LEFT_OUT_ROWS[id])
    const stale = [
      ...Object.keys(LEFT_OUT_RULES).filter((rule) => !rows.some((row) => row.rule === rule)),
      ...[...Object.keys(LEFT_OUT_ROWS), ...Object.keys(STRICTER)].filter(
        (id) => !rows.some((row) => row.id === id),
      ),
    ]
    if (file === undefined) return
    expect(stale).to.deep.equal([])
    expect(rows.length - reasons.length).to.equal(147)
  })

  for (const row of file?.strong_migrations_rows ?? []) {
    const [dialect, sql, rule] = STRONG_MIGRATIONS[row.id] ?? []
    if (dialect === undefined && row.id === 'sm10') continue
    it(`${row.id} finds ${rule ?? '?'}: ${row.check}`, () => {
      expect(rulesIn(sql ?? '', dialect ?? 'postgres')).to.include(rule)
    })
  }
})

function rulesIn(sql: string, dialect: Dialect): readonly string[] {
  return lintFile({
    name: 'file.sql',
    engine: ENGINES[dialect].lint,
    direction: 'up',
    script: splitStatements(sql, ENGINES[dialect].syntax),
    statementTimeoutMs: 60_000,
  }).map(({ rule }) => rule)
}
