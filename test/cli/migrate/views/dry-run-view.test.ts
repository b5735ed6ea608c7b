import type { TriedVersion } from '../../../../lib/migrations/index.js'
import {
  dryRunQuestion,
  nextOfTried,
  triedLines,
  unmeasuredLines,
} from '../../../../cli/migrate/views/dry-run-view.js'
import { phaseLines, rolloutLines, rolloutQuestion } from '../../../../cli/migrate/views/try-rollout-view.js'
import { planned, statement } from './samples.js'
import { expectView, STYLE } from './expect-view.js'

const tried = (facts: Partial<TriedVersion>): TriedVersion => ({
  ...{ name: '0002_a', isApplied: true, chunk: undefined, ms: 12, longestReadMs: 3, longestWriteMs: 4 },
  ...{ locks: [], failures: [], rewritten: [], ...facts },
})
const KINDS = [
  tried({
    locks: ['ACCESS EXCLUSIVE on tasks'],
    rewritten: [{ name: 'tasks', size: { rows: 3, bytes: 8_192 } }],
  }),
  tried({ name: '0003_fill', filled: 2, locks: undefined, unmeasured: 'chunks' }),
  tried({ name: '0004_i', locks: undefined, unmeasured: 'outside', rewritten: undefined }),
  tried({ name: '0005_m', locks: undefined, unmeasured: 'server' }),
  tried({
    ...{ name: '0006_drop', isApplied: false, longestReadMs: undefined, longestWriteMs: undefined },
    failures: [{ table: 'tasks', access: 'read', why: 'relation "tasks" does not exist (42P01)' }],
  }),
]
const harmless = planned(2, 'a', [statement({})])
const breaking = planned(3, 'b', [statement({ breaks: { kind: 'unique', columns: ['a'] } })])

describe('what ashlar migrate dry-run prints', () => {
  it('is that of each kind of version', () => {
    expectView('dry-run', {
      question: [dryRunQuestion('applies 0002_a')],
      'each version': KINDS.flatMap((version) => triedLines(version, STYLE)),
      'what was not measured': unmeasuredLines(KINDS),
      'nothing was read beside it': unmeasuredLines([tried({ longestReadMs: undefined })]),
      'nothing breaks': [nextOfTried([harmless], STYLE)],
      'the first one breaks code': [nextOfTried([breaking], STYLE)],
      'a later one breaks code': [nextOfTried([harmless, breaking], STYLE)],
    })
  })
})

describe('what ashlar migrate try-rollout prints', () => {
  it('is that of each kind of result', () => {
    const rollout = { logs: undefined, applied: ['0002_a'], phases: [], calls: 9, failures: [] }
    const failures = [{ phase: 'both run', image: 'old' as const, message: 'refused', count: 2 }]
    expectView('try-rollout', {
      question: [rolloutQuestion('applies 0002_a'), rolloutQuestion('')],
      'a phase': phaseLines(
        {
          ...{ name: 'both run', ms: 3_000 },
          images: [
            { image: 'old', calls: 1, failures: 0, slowestMs: 8 },
            { image: 'new', calls: 3, failures: 2, slowestMs: 7 },
          ],
        },
        STYLE,
      ),
      'no call failed': rolloutLines(rollout, STYLE),
      'calls failed': rolloutLines({ ...rollout, failures, logs: '/tmp/ashlar-rollout-1' }, STYLE),
      'no version was tried': rolloutLines({ ...rollout, applied: [] }, STYLE),
    })
  })
})
