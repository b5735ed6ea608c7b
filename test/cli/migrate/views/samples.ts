import type {
  PlannedStatement,
  PlannedVersion,
  Unfinished,
  VersionStatus,
} from '../../../../lib/migrations/index.js'

export const AT = new Date('2026-01-02T03:04:05.678Z')

export const version = (number: number, name: string, facts: Partial<VersionStatus>): VersionStatus => ({
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

const UNFINISHED: Unfinished = {
  ...{ direction: 'up', done: 0, of: 1, staysApplied: false, isUnknown: false, isReported: true },
  onDown: { kind: 'clears' },
}

/** A version whose only statement failed. */
export const FAILED = {
  ...version(4, 'size', {
    ...{ state: 'dirty', isMissing: true, lastRunAt: AT },
    error: '0004_size.up.sql, statement 1 of 1 (line 1): ERROR 42703',
  }),
  unfinished: UNFINISHED,
}

export const statement = (facts: Partial<PlannedStatement>): PlannedStatement => ({
  ...{ line: 1, text: 'ALTER TABLE tasks …', lock: '', blocks: 'nothing', rows: 'untouched', tables: [] },
  ...{ loses: [], fails: [], failsAfter: undefined, breaks: undefined, isNew: false, ...facts },
})

export const planned = (
  number: number,
  name: string,
  statements: readonly PlannedStatement[],
): PlannedVersion => ({
  ...{ version: number, name: `000${number}_${name}`, chunk: undefined, isFramework: false },
  ...{ done: 0, rollBack: undefined, statements },
})
