import { lintLines } from '../../../../cli/migrate/views/lint-view.js'
import { type EmptyCopy, emptyCopyText, type MigrationProblem } from '../../../../lib/migrations/index.js'
import { expectView, STYLE } from './expect-view.js'

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
const COPIES: readonly EmptyCopy[] = [
  { kind: 'fails', problem: statement },
  { kind: 'fails', problem: { ...statement, sqlState: '', advice: { kind: 'readBySearch' } } },
  { kind: 'fails', problem: { kind: 'invalidIndexThere', version: '0003_b', index: 'i' } },
  { kind: 'otherEngine', dialect: 'mysql' },
  { kind: 'refusedFile' },
  { kind: 'noDatabase', problem: { kind: 'noRightForScratch', right: 'grant it', sqlState: '42501' } },
]

describe('what ashlar migrate lint prints', () => {
  it('is that of each level', () => {
    expectView('lint', {
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
    })
  })
})
