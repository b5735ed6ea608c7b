import { type MigrationProblem, problemText } from '../../../../lib/migrations/index.js'
import { nothingText } from '../../../../cli/migrate/lines/missing-versions.js'
import { planLines, planNotes } from '../../../../cli/migrate/views/plan-view.js'
import { FAILED, planned, statement, version } from './samples.js'
import { expectView, STYLE } from './expect-view.js'

const versions = [
  planned(2, 'made', [statement({ isNew: true, text: 'CREATE TABLE tasks (id bigint)' })]),
  {
    ...planned(3, 'change', [
      statement({
        ...{ text: "ALTER TABLE tasks ALTER size SET DEFAULT '…'", lock: 'ACCESS EXCLUSIVE' },
        ...{ blocks: 'reads and writes', rows: 'rewritten', waitsForOlder: true },
        tables: [
          { name: 'tasks', size: { rows: 1_234, bytes: 65_536 } },
          { name: 'new', size: undefined },
        ],
        breaks: {
          kind: 'inserts',
          withoutDefault: ['size'],
          isUnsure: true,
          required: ['n'],
          hasCheck: true,
        },
      }),
      statement({
        ...{ text: 'ALTER TABLE tasks DROP COLUMN IF EXISTS old', lock: 'metadata' },
        ...{ blocks: 'reads and writes for a moment', rows: 'read' },
        tables: [{ name: 'tasks', size: undefined }],
        loses: [
          {
            what: 'column',
            name: 'old',
            table: 'tasks',
            size: { rows: 2, bytes: 8_192 },
            isBroughtBack: false,
          },
          { what: 'rows', name: 'tasks', table: 'tasks', size: undefined, isBroughtBack: true },
        ],
        ...{ fails: ['SELECT 1'], breaks: { kind: 'rule', rule: 'ban-drop-column', text: 'code fails' } },
      }),
      statement({
        fails: ['SELECT 2'],
        failsAfter: '0003_change',
        blocks: 'unknown',
        lock: 'unknown',
        rows: 'unknown',
      }),
      statement({
        fails: ['SELECT 3'],
        failsAfter: '0002_made',
        breaks: { kind: 'unique', columns: ['a', 'b'] },
      }),
      statement({ breaks: { kind: 'trigger', name: 'x', table: 'tasks', when: 'BEFORE INSERT' } }),
    ]),
    chunk: 100,
    done: 2,
  },
  ...[
    { staysApplied: true, isUnknown: false, done: 0, of: 1, statements: [] },
    { staysApplied: false, isUnknown: true, done: 0, of: 1, statements: [] },
    { staysApplied: false, isUnknown: false, done: 2, of: 2, statements: [] },
    {
      ...{ staysApplied: false, isUnknown: false, done: 1, of: 3 },
      statements: [
        statement({
          text: 'DROP TABLE b',
          tables: [{ name: 'b', size: undefined }],
          loses: [
            { what: 'table', name: 'c', table: 'c', size: { rows: 3, bytes: 9 }, isBroughtBack: false },
          ],
        }),
      ],
    },
  ].map((rollBack, at) => ({ ...planned(4 + at, 'back', []), rollBack })),
]
const running = version(3, 'change', { state: 'running', holder: 'pid 7 of host a' })
const others = [version(9, 'newer', { state: 'ahead' }), { ...FAILED, isMissing: false }]
const nothing = { lockWaits: 'whileItRuns', versions: [], states: [], other: undefined } as const

describe('what ashlar migrate plan prints', () => {
  it('is that of each kind of statement', () => {
    const problem = { kind: 'otherDirty', table: 'schema_migrations', number: 2 } as MigrationProblem
    expectView(
      'plan',
      {
        'on PostgreSQL': planLines({ ...nothing, versions }, STYLE),
        'on MySQL': planLines(
          { ...nothing, lockWaits: 'atBothEnds', versions: versions.slice(1, 2) },
          STYLE,
        ).slice(-1),
        'a session works on it now': planLines(
          { ...nothing, versions: versions.slice(1, 2), states: [running] },
          STYLE,
        ).slice(0, 2),
        'nothing is to do': planLines(nothing, STYLE),
        'nothing is to do beside a run': planLines({ ...nothing, states: [running] }, STYLE),
        'nothing is to do, and versions are not in the files': planLines(
          { ...nothing, states: others },
          STYLE,
        ),
        notes: planNotes(
          {
            ...{ ...nothing, states: [FAILED, running] },
            other: { isRefused: true, problem },
          },
          STYLE,
        ),
      },
      {
        'why up refuses it': problemText(problem, STYLE.command),
        'nothing is missing': nothingText([], STYLE.command),
        'nothing is missing, beside others': nothingText(others, STYLE.command),
      },
    )
  })
})
