import { onDownText, type VersionStatus } from '../../../../lib/migrations/index.js'
import { statusLines } from '../../../../cli/migrate/views/status-view.js'
import { AT, FAILED, version } from './samples.js'
import { expectView, STYLE } from './expect-view.js'

const applied = version(2, 'tables', {})
const pending = version(3, 'more', { state: 'pending', isMissing: true })
/**
 * What `ashlar migrate status` prints of each kind of version. Its sentences are compared here, and nowhere
 * else.
 */
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
  'one failed': [applied, FAILED, pending],
  'one failed, and its file was edited since': [{ ...FAILED, isEditedSince: true }],
  'several failed': [
    FAILED,
    {
      ...FAILED,
      version: 5,
      name: '0005_fill',
      error: undefined,
      unfinished: {
        direction: 'up',
        done: 0,
        of: 1,
        staysApplied: false,
        isUnknown: false,
        isReported: false,
        written: 100,
        end: ['100'],
        onDown: { kind: 'forgetsChunks' },
      },
    },
  ],
  'one failed that the files do not have': [applied, { ...FAILED, isMissing: false }],
  'a rollback failed': [
    {
      ...applied,
      state: 'dirty',
      unfinished: {
        direction: 'down',
        done: 1,
        of: 3,
        staysApplied: false,
        isUnknown: false,
        isReported: true,
      },
    },
  ],
  'one is edited': [{ ...applied, state: 'edited' }],
  'one is edited, and has another name': [{ ...applied, state: 'edited', otherName: '0002_books' }],
  'one is ahead': [applied, version(9, 'newer', { state: 'ahead', appliedAt: AT })],
}

describe('what ashlar migrate status prints', () => {
  it('is that of each kind of version', () => {
    const kinds = Object.entries(KINDS).map(([kind, versions]) => [kind, statusLines({ versions }, STYLE)])
    const versions = [applied, pending]
    const other = { isRefused: false, table: 'schema_migrations', at: 2, versions: [1, 2] } as const
    const next = { command: 'migrate status', options: { schema: 'shop' } }
    expectView(
      'status',
      {
        ...(Object.fromEntries(kinds) as Record<string, readonly string[]>),
        'another history decides': statusLines({ versions, other }, STYLE),
        'another schema may be meant': statusLines({ versions, elsewhere: { here: 'public', next } }, STYLE),
      },
      {
        'what down does': onDownText({ kind: 'clears' }, STYLE.command),
        'what down does with chunks': onDownText({ kind: 'forgetsChunks' }, STYLE.command),
      },
    )
  })
})
