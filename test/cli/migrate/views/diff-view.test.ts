import { type MigrationProblem, problemText } from '../../../../lib/migrations/index.js'
import { fillText, tableDifferenceText } from '../../../../lib/text/table-difference.js'
import { type Compared, diffLines, leftoverText } from '../../../../cli/migrate/views/diff-view.js'
import {
  type Checked,
  checkedFindings,
  checkLines,
  checkNotes,
} from '../../../../cli/migrate/views/check-view.js'
import { expectView, STYLE } from './expect-view.js'

const FLAGS = { contract: false, entities: 'dist/entities.js', live: false }
const LIVE = { ...FLAGS, live: true }
const CONTRACT = { ...FLAGS, contract: true }
const missing = { kind: 'noTable', table: 'tasks', text: 'tasks is missing', next: 'expand' } as const
const left = {
  kind: 'type',
  table: 'tasks',
  text: 'tasks.size is int and has to be bigint',
  next: 'contract',
} as const
const leftText = tableDifferenceText(left, true, STYLE.command)
const byHand = {
  kind: 'primaryKey',
  table: 'tasks',
  text: 'tasks has no primary key',
  detail: 'make it',
} as const
const files = ['migrations/postgres/0002_a.up.sql', 'migrations/postgres/0002_a.down.sql']
const fill = [{ table: 'tasks', column: 'size', fill: 'SELECT * FROM tasks WHERE size IS NULL' }]
const shown = (facts: Partial<Compared>, flags = FLAGS) =>
  diffLines(
    {
      ...{ files: [], fill: [], left: [], byHand: [], leftovers: [], drift: [], bringsBack: [] },
      ...facts,
    },
    flags,
    STYLE,
  )

describe('what ashlar migrate diff prints', () => {
  it('is that of each kind of result', () => {
    expectView(
      'diff',
      {
        'files are written': shown({ files, left: [left], byHand: [byHand] }),
        'files of the contract are written': shown({ files, fill }, CONTRACT),
        'nothing is missing': shown({}),
        'nothing is missing in the database': shown({}, LIVE),
        'only the contract is left': shown({ left: [left] }),
        'only the contract is left of the database': shown({ left: [left] }, LIVE),
        'nothing is left for the contract': shown({}, CONTRACT),
        'nothing is left for the contract of the database': shown({}, { ...LIVE, contract: true }),
        'only a person can do it': shown({ byHand: [byHand] }),
        'the database is not what the files make': shown(
          { drift: [missing], bringsBack: ['CREATE TABLE tasks (id bigint);'], fill, byHand: [byHand] },
          LIVE,
        ),
        'another comparison left a database': [leftoverText('shop_ashlar_scratch_1')],
      },
      { 'what the contract does': leftText, 'how rows are found': fillText(fill[0]!.fill, STYLE.command) },
    )
  })
})

describe('what ashlar migrate check prints', () => {
  it('is that of each kind of result', () => {
    const nothing = { empty: undefined, downs: [], untried: [], compared: undefined }
    const checked = (facts: Partial<Checked>) => checkLines({ ...nothing, ...facts }, STYLE)
    const compared = { entities: 'dist/entities.js', missing: [], left: [left], byHand: [] }
    const version = {
      what: 'a',
      up: '',
      down: '',
      statements: ['CREATE TABLE a (id bigint)', 'CREATE INDEX i ON a (id)'],
    }
    const problem = { kind: 'invalidIndexThere', version: '0002_a', index: 'i' } as MigrationProblem
    expectView(
      'check',
      {
        'every version goes up and down': checked({}),
        'some have no down migration': checked({ untried: ['0002_a', '0003_b'] }),
        'one has no down migration': checked({ untried: ['0002_a'] }),
        'there is no version': [
          ...checkedFindings({ findings: [], empty: 'migrations/mysql' }, STYLE),
          ...checked({ empty: 'migrations/mysql' }),
        ],
        'lint refuses a file': checked({ downs: undefined }),
        'each thing that does not come back': checked({
          downs: [
            ...(['up', 'down', 'again'] as const).map(
              (step) => ({ kind: 'fails', version: '0002_a', step, problem }) as const,
            ),
            ...(['loses', 'changes', 'leaves'] as const).map(
              (effect) =>
                ({
                  kind: 'differs',
                  version: '0002_a',
                  step: 'down',
                  effect,
                  object: 'column b of a',
                }) as const,
            ),
            { kind: 'differs', version: '0002_a', step: 'again', effect: 'leaves', object: 'index i of a' },
          ],
          compared: 'failed',
        }),
        'the files make what is needed': [...checked({ compared }), ...checkNotes({ compared }, STYLE)],
        'the files lack something': checked({
          compared: { ...compared, missing: [version], byHand: [byHand] },
        }),
      },
      {
        'what the contract does': leftText,
        'why a version fails': problemText(problem, STYLE.command),
      },
    )
  })
})
