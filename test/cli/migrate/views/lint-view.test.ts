import { lintLines } from '../../../../cli/migrate/views/lint-view.js'
import { expectView, STYLE } from './expect-view.js'

const finding = (level: 'refuse' | 'danger' | 'advice', rule: string, file = 'migrations/0002_a.up.sql') => ({
  ...{ file, line: 3, level, rule, text: `is what ${rule} finds` },
})

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
    })
  })
})
