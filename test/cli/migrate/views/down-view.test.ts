import type { RollBack } from '../../../../lib/migrations/index.js'
import {
  downLines,
  downNotes,
  lossesQuestion,
  type RolledBack,
} from '../../../../cli/migrate/views/down-view.js'
import { lossText } from '../../../../cli/migrate/lines/sizes.js'
import { redoLines, redoThen } from '../../../../cli/migrate/views/redo-view.js'
import { version } from './samples.js'
import { expectView, STYLE } from './expect-view.js'

const rollBack = (number: number, name: string, facts: Partial<RollBack> = {}): RollBack => ({
  ...{ version: number, name: `000${number}_${name}`, isFramework: false, loses: [], staysLost: [] },
  ...{ staysDone: undefined, mayLeaveContract: false, appliedBefore: [], refills: undefined },
  ...facts,
})
const lost = { what: 'column', name: 'size', table: 'tasks', size: { rows: 1_234, bytes: 65_536 } } as const
const framework = rollBack(1, 'framework_init', {
  isFramework: true,
  loses: [{ what: 'table', name: 'operations', table: 'operations', size: { rows: 0, bytes: 8_192 } }],
})
const KINDS = [
  rollBack(6, 'contract', { mayLeaveContract: true, staysLost: [lost] }),
  rollBack(5, 'fill', { staysDone: 'written', refills: { written: 100 } }),
  rollBack(4, 'made', { staysDone: 'made', appliedBefore: ['9001_a'] }),
  rollBack(3, 'table', { loses: [lost] }),
]

const done = (facts: Partial<RolledBack>) =>
  downLines({ result: { rolledBack: [] }, done: [], to: undefined, pending: [], states: [], ...facts }, STYLE)
const names = KINDS.map(({ name }) => name)

describe('what ashlar migrate down prints', () => {
  it('is that of each kind of version', () => {
    expectView('down', {
      'before, of the last version': downNotes(KINDS, undefined),
      'asked of several': lossesQuestion(KINDS, STYLE, false),
      'asked of one': lossesQuestion(KINDS.slice(3), STYLE, false),
      'asked of all': lossesQuestion([...KINDS.slice(3), framework], STYLE, true),
      'asked by redo': lossesQuestion(KINDS.slice(1, 2), STYLE, false, redoThen(['0007_next'])),
      afterwards: done({ result: { rolledBack: names }, done: KINDS, pending: names }),
      'to a version': done({ result: { rolledBack: names }, done: KINDS, to: 2, pending: ['0003_table'] }),
      'to 0': done({ result: { rolledBack: names }, done: KINDS, to: 0 }),
      'no version is applied': done({ states: [version(2, 'a', { state: 'pending' })] }),
      'none of the module is applied': done({ states: [version(1, 'framework_init', {})] }),
      'none above is applied': done({ to: 2, states: [version(2, 'a', {})] }),
      'the size of a table, which MySQL counts later': [200_000, 200, 0].map((rows) =>
        lossText({ what: 'table', name: 'a', table: 'a', size: { rows, bytes: 16_384 } }),
      ),
    })
  })
})

describe('what ashlar migrate redo prints', () => {
  it('is that of each kind of result', () => {
    expectView('redo', {
      'a version is applied again': redoLines(
        { rolledBack: ['0002_a'], applied: ['0002_a'], ahead: [] },
        ['0003_b'],
        STYLE,
      ),
      'no version is applied': redoLines({ rolledBack: [], applied: [], ahead: [] }, [], STYLE),
    })
  })
})
