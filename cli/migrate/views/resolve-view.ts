import type { Resolution, VersionStatus } from '../../../lib/migrations/index.js'
import { namesText } from '../lines/names-text.js'
import { nextLine, nextUpLines, type Style, verifyLine } from '../lines/line-style.js'

/** A migration that was fixed manually. */
export interface Resolved {
  readonly version: number
  readonly as: Resolution
  /** The previous status; undefined if neither the files nor the database contain it. */
  readonly status: VersionStatus | undefined
  /** The migrations that the next `up` applies. */
  readonly next: readonly string[]
}

type Asked = Omit<Resolved, 'next'>

const nameOf = ({ version, status }: Asked): string => status?.name ?? String(version).padStart(4, '0')

export function resolveQuestion(asked: Asked): string {
  const records = `This records ${nameOf(asked)}`
  return [
    asked.as === 'applied'
      ? `${records} as applied, without running it: the effects of its statements must already exist.`
      : `${records} as not applied, and migrate up runs it from its first statement: none of its effects may be left.`,
    ...(asked.as === 'applied' ? doneSentences(asked) : leftSentences(asked)),
  ].join(' ')
}

/** Returns the statements that are known to be completed, on MySQL. */
function doneSentences({ status }: Asked): readonly string[] {
  const { direction, done = 0, of = 0 } = status?.unfinished ?? {}
  if (direction !== 'up' || done === 0) return []
  return [
    done === 1
      ? `Statement 1 of ${of} is recorded as done.`
      : `Statements 1 to ${done} of ${of} are recorded as done.`,
  ]
}

/**
 * Returns the completed part of a migration, which must be undone manually before it counts as rolled back.
 */
function leftSentences({ status }: Asked): readonly string[] {
  if (status?.unfinished === undefined) return []
  const { direction, done, of, staysApplied } = status.unfinished
  if (staysApplied) return ['Its rollback removed nothing: undo all of it manually first.']
  if (direction === 'down') {
    const rest = done + 1 === of ? `statement ${of}` : `statements ${done + 1} to ${of}`
    return done < of ? [`Of its rollback, ${rest} of ${of} may not be done: do that manually first.`] : []
  }
  if (done === 0) return []
  return [
    done === 1
      ? 'Statement 1 is recorded as done: undo it manually first.'
      : `Statements 1 to ${done} are recorded as done: undo them manually first.`,
  ]
}

/** Returns the remaining problem: the failed file itself is not corrected. */
export const resolveNotes = ({ as, status }: Asked, { command }: Style): readonly string[] =>
  as === 'applied' &&
  status?.error !== undefined &&
  status.unfinished?.direction !== 'down' &&
  status.isEditedSince !== true
    ? [
        `its file is the one that failed, and fails in every new database: correct it, and run ${command('migrate repair')} here before the next up`,
      ]
    : []

export function resolveLines(resolved: Resolved, style: Style): readonly string[] {
  const { as, next } = resolved
  const recorded = `${style.paint.good('recorded')} ${nameOf(resolved)} as ${as === 'applied' ? 'applied' : 'not applied'}: nothing was run`
  if (as === 'rolledBack') return [recorded, ...nextUpLines(style, next)]
  const compares = 'which compares the tables with the entities'
  return [
    recorded,
    next.length === 0
      ? nextLine(style, { command: 'migrate verify', options: { entities: 'MODULE' } }, compares)
      : nextLine(
          style,
          { command: 'migrate up' },
          `which applies ${namesText(next)}; then ${verifyLine(style)}, ${compares}`,
        ),
  ]
}
