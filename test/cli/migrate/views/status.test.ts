import type { VersionStatus } from '../../../../lib/migrations/index.js'
import { statusLines } from '../../../../cli/migrate/views/status.js'
import { paintFor } from '../../../../cli/output/paint.js'
import { expectGolden } from '../../../support/golden.js'

const AT = new Date('2026-01-02T03:04:05.678Z')

const version = (number: number, name: string, facts: Partial<VersionStatus>): VersionStatus => ({
  version: number,
  name: `${String(number).padStart(4, '0')}_${name}`,
  state: 'applied',
  appliedAt: facts.state === undefined || facts.state === 'applied' ? AT : undefined,
  isRecorded: false,
  holder: undefined,
  error: undefined,
  unfinished: undefined,
  isChecked: true,
  isMissing: false,
  isFramework: false,
  ...facts,
})
const applied = version(2, 'tables', {})
const pending = version(3, 'more', { state: 'pending', isMissing: true })
const failed = version(4, 'size', {
  state: 'dirty',
  isMissing: true,
  error: 'migrations: 0004_size.up.sql, statement 1 of 1 (line 1): ERROR 42703',
  lastRunAt: AT,
  unfinished: {
    direction: 'up',
    done: 0,
    of: 1,
    staysApplied: false,
    text: '',
    onDown: 'nothing of it is done: ashlar migrate down makes it pending again',
  },
})

/** What `ashlar migrate status` prints of each kind of version. Its sentences are compared here, and nowhere else. */
const KINDS: Readonly<Record<string, readonly VersionStatus[]>> = {
  'all applied': [version(1, 'framework_init', { isFramework: true }), applied],
  'one is pending': [applied, pending],
  'one of another tool, and one recorded': [
    version(2, 'old', { isChecked: false }),
    version(3, 'made', { isRecorded: true }),
  ],
  'lint refuses a pending one': [
    applied,
    { ...pending, refusal: '0003_more.up.sql:2: creates or drops a database (leaves-the-database)' },
  ],
  'one is running': [applied, version(3, 'more', { state: 'running', holder: 'pid 7 of host a' })],
  'one failed': [applied, failed, pending],
  'one failed, and its file was edited since': [{ ...failed, isEditedSince: true }],
  'several failed': [
    failed,
    {
      ...failed,
      version: 5,
      name: '0005_fill',
      error: undefined,
      unfinished: {
        direction: 'up',
        done: 0,
        of: 1,
        staysApplied: false,
        text: "the run ended without a report (process killed, session ended or host lost); 100 rows are written and stay, up to the key '100'",
        onDown: 'of a backfill, ashlar migrate down runs its way down',
      },
    },
  ],
  'one failed that the files do not have': [applied, { ...failed, isMissing: false }],
  'a rollback failed': [
    {
      ...applied,
      state: 'dirty',
      unfinished: {
        direction: 'down',
        done: 1,
        of: 3,
        staysApplied: false,
        text: 'its rollback stopped after statement 1 of 3: up first finishes it (statements 2 to 3)',
      },
    },
  ],
  'one is edited': [{ ...applied, state: 'edited' }],
  'one is edited, and has another name': [{ ...applied, state: 'edited', otherName: '0002_books' }],
  'one is ahead': [applied, version(9, 'newer', { state: 'ahead', appliedAt: AT })],
}

describe('what ashlar migrate status prints', () => {
  it('is that of each kind of version', () => {
    const parts = Object.entries(KINDS).map(([kind, versions]) =>
      [`# ${kind}`, ...statusLines(versions, paintFor({}), true)].join('\n'),
    )
    parts.push(
      ['# another history decides', ...statusLines([applied, pending], paintFor({}), false)].join('\n'),
    )
    expectGolden('cli/views/migrate-status.txt', `${parts.join('\n\n')}\n`)
  })
})
