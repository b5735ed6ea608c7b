import {
  type CommandLine,
  onDownText,
  type OtherHistory,
  unfinishedText,
  type VersionState,
  type VersionStatus,
} from '../../../lib/migrations/index.js'
import { terminalLine } from '../../output/terminal-line.js'
import { nextLine, type Style } from '../lines/line-style.js'
import type { Elsewhere } from '../other-schemas.js'

const RECORDED = 'recorded as applied, but its file has not run successfully here'
const editedText = (command: CommandLine): string =>
  `edited: up rejects it; restore the file, or accept the edit with ${command('migrate repair')}, which shows it`
const OTHER_NAME =
  'edited, and its name differs from the recorded one: these files belong to another database or module, or the file was renamed. Name the right folder with --files, or restore the file'
const RUNNING =
  'running: check again when it has finished. If its process was killed, the database ends the session when its statement ends, unless you end the session first'
/** Advice for a migration that is missing in this command's files. */
export const RUN_ELSEWHERE = 'run migrate up with --files and the folder that contains it'
const elsewhereText = (command: CommandLine): string =>
  `dirty, and not in these files: ${RUN_ELSEWHERE}, or, if none of its statements has run, roll it back with ${command('migrate down')}; if some have run, undo them manually and record that with ${command('migrate resolve', { 'rolled-back': true })}`
const AHEAD = 'ahead: these files do not have it; a newer release applied it, or its file was removed'

/** The migrations, and the other circumstances that determine what `up` does. */
export interface DatabaseStatus {
  readonly versions: readonly VersionStatus[]
  readonly other?: OtherHistory | undefined
  readonly elsewhere?: Elsewhere | undefined
}

/** Returns a line for each migration, and a line with their numbers. */
export function statusLines({ versions, other, elsewhere }: DatabaseStatus, style: Style): readonly string[] {
  const { paint, command } = style
  const width = Math.max(...versions.map(({ name }) => name.length))
  const lines = versions.map((version) => {
    const { name, state, appliedAt, isRecorded, holder, isChecked, isFramework, otherName, lastRunAt } =
      version
    const colour = {
      applied: paint.good,
      pending: paint.warn,
      running: paint.warn,
      dirty: paint.bad,
      edited: paint.bad,
      ahead: paint.dim,
    }
    const time = appliedAt?.toISOString() ?? ''
    const how = isRecorded ? 'recorded' : 'applied'
    const at = state === 'applied' && !isRecorded ? ' at' : `, ${how} at`
    const since = appliedAt === undefined ? '' : paint.dim(`${at} ${time}`)
    const run = lastRunAt === undefined ? '' : paint.dim(`, last run at ${lastRunAt.toISOString()}`)
    const other = otherName === undefined ? '' : `: these files have ${otherName}`
    const by = holder === undefined ? '' : `: by ${terminalLine(holder)}`
    const reason = [dirtyText(version), refusalText(version)].filter((one) => one !== '').join('. ')
    const why = reason === '' ? '' : `: ${reason}`
    const adopted = isChecked ? '' : paint.dim(' (by another tool)')
    const framework = isFramework ? paint.dim(' (of the framework)') : ''
    return `${name.padEnd(width)} ${colour[state](state)}${since}${run}${adopted}${framework}${by}${other}${why}`
  })
  // For a failed rollback, its own line contains the next step.
  const failed = versions.filter(
    ({ state, unfinished }) => state === 'dirty' && unfinished?.direction !== 'down',
  )
  const edited = versions.filter(({ state }) => state === 'edited')
  const notes = [
    ...(versions.some(({ isRecorded }) => isRecorded) ? [RECORDED] : []),
    ...(edited.some(({ otherName }) => otherName === undefined) ? [editedText(command)] : []),
    ...(edited.some(({ otherName }) => otherName !== undefined) ? [OTHER_NAME] : []),
    ...(versions.some(({ state }) => state === 'running') ? [RUNNING] : []),
    ...dirtyLines(
      failed.filter(({ isMissing }) => isMissing),
      command,
    ),
    ...(failed.some(({ isMissing }) => !isMissing) ? [elsewhereText(command)] : []),
    ...(versions.some(({ state }) => state === 'ahead') ? [AHEAD] : []),
  ]
  const isOurs = other === undefined && elsewhere === undefined
  const next =
    elsewhere === undefined ? [] : [nextLine(style, elsewhere.next, `unless you mean ${elsewhere.here}`)]
  return [...lines, summaryOf(versions, isOurs, command), ...notes, ...next]
}

/** Returns the advice for dirty migrations whose up file did not complete. */
function dirtyLines(versions: readonly VersionStatus[], command: CommandLine): readonly string[] {
  if (versions.length === 0) return []
  const cause = versions.some(({ error }) => error !== undefined) ? ', once the reported cause is fixed' : ''
  const onDown = versions.flatMap(({ name, unfinished }) => {
    if (unfinished?.onDown === undefined) return []
    const text = onDownText(unfinished.onDown, command)
    return [versions.length === 1 ? text : `${name}: ${text}`]
  })
  return [[`dirty: ${command('migrate up')} continues it${cause}`, ...onDown].join('; ')]
}

/** Returns the advice for a dirty migration without files. MySQL keeps the completed statements. */
export function dirtyWayOut(version: VersionStatus | undefined, command: CommandLine): string {
  const done = version?.unfinished?.direction === 'up' ? version.unfinished.done : 0
  const files = `${RUN_ELSEWHERE}, such as the folder of the release that started it`
  return done === 0
    ? `${files}; or, if none of its statements has run, roll it back with ${command('migrate down')}`
    : `${files}; without those files, undo its completed statements manually (${done === 1 ? 'statement 1' : `statements 1 to ${done}`}), and record that with ${command('migrate resolve', { 'rolled-back': version?.version ?? true })}`
}

/** Formats the state of a dirty migration; empty for any other. */
export const dirtyText = ({ unfinished, error, isEditedSince }: VersionStatus): string =>
  terminalLine(
    [
      unfinished === undefined ? '' : unfinishedText(unfinished),
      error ?? '',
      isEditedSince === true ? EDITED_SINCE : '',
    ]
      .filter((one) => one !== '')
      .join('. '),
    LONGEST_REASON,
  )

const EDITED_SINCE = 'The file was edited since that run'

/** Returns the reason why `up` does not run the file. */
const refusalText = ({ refusal }: VersionStatus): string =>
  refusal === undefined ? '' : `up rejects the file: ${terminalLine(refusal, LONGEST_REASON)}`

/** The maximum length of a reason, which may end with a query. */
const LONGEST_REASON = 1_000

const STATES = ['applied', 'pending', 'running', 'dirty', 'edited', 'ahead'] as const

/** Formats the summary: `4 migrations: 2 applied, 2 pending; ashlar migrate up applies what is pending`. */
function summaryOf(versions: readonly VersionStatus[], isOurs: boolean, command: CommandLine): string {
  const counts = STATES.flatMap((state) => {
    const count = versions.filter((version) => version.state === state).length
    return count === 0 ? [] : [`${count} ${state}`]
  })
  const has = (...states: readonly VersionState[]) => versions.some(({ state }) => states.includes(state))
  const isRefused = versions.some(({ refusal }) => refusal !== undefined)
  const applies =
    isOurs && has('pending') && !has('running', 'dirty', 'edited')
      ? `; ${command('migrate up')} applies what is pending`
      : ''
  const todo = isRefused ? `; ${command('migrate up')} applies nothing, because lint rejects a file` : applies
  const many = versions.length === 1 ? '1 migration' : `${versions.length} migrations`
  return `${[many, ...(counts.length === 0 ? [] : [counts.join(', ')])].join(': ')}${todo}`
}
