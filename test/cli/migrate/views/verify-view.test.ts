import {
  type MigrationProblem,
  problemText,
  type TableDifference,
  unfinishedText,
} from '../../../../lib/migrations/index.js'
import { type Verified, verifyLines, verifyNotes } from '../../../../cli/migrate/views/verify-view.js'
import { FAILED, version } from './samples.js'
import { expectView, STYLE } from './expect-view.js'

const verified = (facts: Partial<Verified>) =>
  verifyLines(
    {
      ...{ differences: [], versions: [version(2, 'tables', {})], removed: [], entities: undefined },
      ...{ elsewhere: undefined, ...facts },
    },
    STYLE,
  )
const table = (kind: string, rest: Partial<TableDifference> = {}): TableDifference => ({
  ...{ kind, table: 'tasks', text: `tasks differs by ${kind}` },
  ...rest,
})
const missing = table('addColumn', { column: 'size', text: 'tasks.size is missing', next: 'expand' })
const left = table('type', { detail: 'until then longer values are rejected; ', next: 'contract' })
const unfinished = { ...FAILED.unfinished, isReported: false, done: 1, of: 3 }
const problem = { kind: 'otherUnknown', table: 'schema_migrations', number: 7 } as MigrationProblem
const EACH: Verified['differences'] = [
  { kind: 'pending', version: '0003_more' },
  {
    kind: 'pending',
    version: '0003_more',
    refusal: '0003_more.up.sql:2: creates a database (leaves-the-database)',
  },
  { kind: 'running', version: '0003_more', holder: undefined },
  {
    kind: 'dirty',
    version: '0004_size',
    error: 'it failed',
    unfinished: FAILED.unfinished,
    isOfTheseFiles: true,
  },
  ...[true, false].map((isOfTheseFiles) => ({
    ...{ kind: 'dirty' as const, version: '0004_size', error: undefined, isOfTheseFiles },
    unfinished,
  })),
  { kind: 'edited', version: '0002_tables' },
  { kind: 'otherName', version: '0002_tables', name: '0002_books' },
  { kind: 'ahead', version: '0009_newer' },
  { kind: 'refused', problem },
  { kind: 'missingTable', table: 'outbox_leases' },
  { kind: 'incompleteTable', table: 'idempotency_keys', lacks: ['subject', 'lease_until'] },
  { kind: 'busyIndex', index: 'public.i' },
  { kind: 'invalidIndex', index: 'public.i', leftBy: '0003_i', isOfReindex: false },
  { kind: 'invalidIndex', index: 'public.i', leftBy: undefined, isOfReindex: true },
  { kind: 'invalidIndex', index: 'public.i', leftBy: undefined, isOfReindex: false },
]
const TABLES = [
  missing,
  left,
  table('extraColumn', { detail: 'declare it; or, once no running image uses it, ', next: 'drop' }),
  table('addIndex', { next: 'both' }),
  table('nullable', { fill: 'SELECT 1', next: 'contract' }),
  table('spareDefault', { statement: 'ALTER TABLE tasks …', next: 'contract' }),
  table('noVector', { next: 'search' }),
  table('fault'),
]
const entities = 'dist/entities.js'

describe('what ashlar migrate verify prints', () => {
  it('is that of each kind of difference', () => {
    const next = { command: 'migrate status', options: { schema: 'shop' } }
    expectView(
      'verify',
      {
        'nothing differs': verified({}),
        'nothing differs in the tables': verified({ entities }),
        'each difference from the files': verified({ differences: EACH }),
        'another schema may be meant': verified({
          ...{ differences: EACH.slice(0, 2), elsewhere: { here: 'public', next } },
        }),
        'each difference of the tables': verified({ differences: TABLES, entities }),
        'a version may settle it': verified({
          ...{ differences: [missing], entities },
          versions: [version(3, 'more', { state: 'pending', isMissing: true })],
        }),
        'only the contract is left': verified({ differences: [left], entities }),
        'it was removed by hand, and was only recorded': verified({
          ...{ differences: [missing, left], entities },
          removed: [
            { difference: missing, version: '0002_tables', isRecorded: false },
            { difference: left, version: '0003_more', isRecorded: true },
          ],
        }),
        'another tool applied one': verifyNotes({
          versions: [version(2, 'old', { isChecked: false })],
          notes: [],
        }),
      },
      {
        'what was left': unfinishedText(unfinished),
        'why up refuses it': problemText(problem, STYLE.command),
      },
    )
  })
})
