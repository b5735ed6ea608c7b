import type { PlannedVersion, UpResult } from '../../../../lib/migrations/index.js'
import { dirtyFailure, finishQuestion, upLines } from '../../../../cli/migrate/views/up-view.js'
import { RUN_ELSEWHERE } from '../../../../cli/migrate/views/status-view.js'
import { FAILED, planned, statement } from './samples.js'
import { expectView, STYLE } from './expect-view.js'

const upped = (result: Partial<UpResult>, to?: number, next: readonly string[] = []) =>
  upLines({ result: { applied: [], ahead: [], ...result }, to, next }, STYLE)
const loses = {
  what: 'table',
  name: 'c2',
  table: 'c2',
  size: { rows: 0, bytes: 8_192 },
  isBroughtBack: false,
} as const
const half: PlannedVersion = {
  ...planned(2, 'c', []),
  rollBack: {
    ...{ staysApplied: false, isUnknown: false, done: 1, of: 2 },
    statements: [statement({ loses: [loses] })],
  },
}

describe('what ashlar migrate up prints', () => {
  it('is that of each kind of result', () => {
    expectView(
      'up',
      {
        'versions are applied, and one is recorded': upped({
          ...{ applied: ['0002_a', '0003_fill'], recorded: ['9001_a_search_vector'] },
          filled: [{ version: '0003_fill', rows: 300, earlier: 100 }],
        }),
        'up to a version': upped({ applied: ['0002_a'] }, 2, ['0003_b', '0004_c']),
        'nothing is to do': upped({}),
        'nothing is to do up to a version': upped({}, 2),
        'a newer release was there': upped({ ahead: ['0009_newer'] }),
        'a version failed that the files do not have': [
          ...upped({ dirty: ['0004_size'] }),
          dirtyFailure(['0004_size'], [{ ...FAILED, isMissing: false }], STYLE.command),
        ],
        'one of which a statement is done': [
          dirtyFailure(
            ['0004_size'],
            [{ ...FAILED, unfinished: { ...FAILED.unfinished, done: 2, of: 3 } }],
            STYLE.command,
          ),
        ],
        'a rollback stopped': [finishQuestion([half]) ?? ''],
      },
      { 'run it elsewhere': RUN_ELSEWHERE },
    )
  })
})
