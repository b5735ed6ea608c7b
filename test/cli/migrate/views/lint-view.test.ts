import { lintLines } from '../../../../cli/migrate/views/lint-view.js'
import {
  type EmptyCopy,
  emptyCopyText,
  type MigrationProblem,
  problemText,
} from '../../../../lib/migrations/index.js'
import { adviceText } from '../../../../lib/migrations/messages/advices.js'
import { LINTS } from '../../../../lib/migrations/messages/lint-messages.js'
import { type KindsOf, writtenBy } from '../../../../lib/migrations/messages/messages.js'
import { mysqlLint } from '../../../../lib/migrations/mysql/lint/mysql-lint.js'
import { postgresLint } from '../../../../lib/migrations/postgres/lint/postgres-lint.js'
import { expectView, linesOf, type Samples, STYLE } from './expect-view.js'

const finding = (level: 'refuse' | 'danger' | 'advice', rule: string, file = 'migrations/0002_a.up.sql') => ({
  ...{ file, line: 3, level, rule, text: `is what ${rule} finds` },
})

const statement: Extract<MigrationProblem, { readonly kind: 'statementFailed' }> = {
  kind: 'statementFailed',
  ...{ version: '0003_b', file: '0003_b.up.sql', isFramework: false },
  ...{ place: { statement: 1, of: 1, line: 2 }, message: 'no', sqlState: '42703', advice: undefined },
  direction: 'up',
  mend: 'file',
  ...{ remains: undefined, isUnknown: false, isBlocked: false, isThere: false },
}
const REFUSED = { kind: 'noRightForScratch', right: 'grant it', sqlState: '42501' } as const
const INVALID = { kind: 'invalidIndexThere', version: '0003_b', index: 'i' } as const
const READ = { kind: 'readBySearch' } as const
const COPIES: readonly EmptyCopy[] = [
  { kind: 'fails', problem: statement },
  { kind: 'fails', problem: { ...statement, sqlState: '', advice: READ } },
  { kind: 'fails', problem: INVALID },
  { kind: 'breaks', objects: ['view report'] },
  { kind: 'breaks', objects: ['view report', 'trigger audit'] },
  { kind: 'otherEngine', dialect: 'mysql' },
  { kind: 'refusedFile' },
  { kind: 'noDatabase', problem: REFUSED },
]

/** Values of each rule, several where its sentence has parts that not all have. */
const RULES: Samples<KindsOf<typeof LINTS>> = {
  unterminated: [{ why: 'a quote is not closed' }],
  'empty-file': [{}],
  'empty-down': [{}],
  'unknown-rule': [{ rule: 'ban-drop-tabel' }],
  'transaction-control': [{ commits: postgresLint.commits }, { commits: mysqlLint.commits }],
  'client-command': [{ what: 'copy' }, { what: 'psql' }, { what: 'delimiter' }, { what: 'source' }],
  'leaves-the-database': [{ what: 'object' }, { what: 'server' }, { what: 'use' }, { what: 'subscription' }],
  'backfill-form': [{}, { problem: 'chunk is 1 to 100000' }],
  'engine-state': [{}, { own: 'ashlar_migrations' }],
  'non-transactional': [{}],
  'index-needs-a-name': [{}],
  'enum-value-in-use': [{ value: "'ok'" }],
  'torn-body': [{}],
  'adding-field-with-default': [{}],
  'adding-stored-generated-column': [{ seconds: 60, rows: 4_000_000 }],
  'adding-search-vector': [{ seconds: 5, rows: 325_000 }],
  'adding-auto-increment-column': [{}],
  'adding-primary-key-constraint': [{ how: 'locks' }, { how: 'rewrites' }],
  'changing-column-type': [{}],
  'require-concurrent-index-creation': [{}],
  'require-concurrent-index-deletion': [{}],
  'require-concurrent-reindex': [{}],
  'require-concurrent-partition-detach': [{}],
  'adding-foreign-key-constraint': [{}, { isCopied: true }],
  'constraint-missing-not-valid': [{ isValidated: true }, { isValidated: false }],
  'disallow-unique-constraint': [{}],
  'adding-exclusion-constraint': [{}],
  'adding-not-null-field': [{}],
  'prefer-repack': [{}],
  'locking-a-table': [{}, { isOption: true }],
  'algorithm-copy': [{}],
  'rebuilding-a-table': [{}],
  'adding-volatile-default': [{}],
  'backfill-with-ddl': [{}],
  'ban-drop-column': [{}],
  'ban-drop-table': [{}],
  'ban-truncate-cascade': [{}],
  'ban-drop-cascade': [{}],
  'renaming-column': [{}],
  'renaming-table': [{}],
  'renaming-schema': [{}],
  'renaming-enum-value': [{}],
  'ban-drop-not-null': [{}],
  'adding-required-field': [{}],
  'one-ddl-per-file': [{}],
  'unrecoverable-statement': (['rename', 'create', 'drop', 'move', 'constraint'] as const).flatMap((what) =>
    [false, true].map((isAlone) => ({ what, isAlone })),
  ),
  'session-state': [{}],
  'engine-without-transactions': [{}],
  'ban-char-field': [{ column: 'code' }],
  'prefer-bigint-over-int': [{ column: 'size' }],
  'prefer-identity': [{ column: 'id' }],
  'prefer-timestamptz': [{ column: 'at' }],
  'adding-json-column': [{ column: 'data' }],
  'identifier-too-long': [{ longest: postgresLint.longestName }, { longest: mysqlLint.longestName }],
  'require-enum-value-ordering': [{}],
  'ban-domain-constraint': [{}],
  'three-byte-utf8': [{}],
  'password-in-a-file': [{}],
}

describe('what ashlar migrate lint prints', () => {
  it('is that of each rule', () => {
    expectView(
      'lint-rules',
      linesOf(RULES, (found) => writtenBy(LINTS, found, STYLE.command)),
    )
  })

  it('is that of each level', () => {
    expectView(
      'lint',
      {
        'nothing is found': lintLines([], STYLE),
        'each level': lintLines(
          [
            finding('refuse', 'transaction-control'),
            finding('danger', 'ban-drop-column'),
            finding('danger', 'empty-down', 'migrations/0002_a.down.sql'),
            finding('advice', 'ban-char-field'),
            finding('advice', 'adding-search-vector', 'migrations/9001_a_search_vector.up.sql'),
          ],
          STYLE,
        ),
        'on an empty copy': COPIES.map((found) => emptyCopyText(found, STYLE.command)),
      },
      {
        'an index that was there': problemText(INVALID, STYLE.command),
        'a right that is missing': problemText(REFUSED, STYLE.command),
        'a column that search reads': adviceText(READ, STYLE.command),
      },
    )
  })
})
