import type { VersionState, VersionStatus } from '../../../lib/migrations/index.js'
import type { Paint } from '../../output/paint.js'
import { terminalLine } from '../../output/terminal-line.js'

const RECORDED = 'recorded: it counts as applied, and no run of its file has succeeded here'
const EDITED =
  'edited: up refuses it; put the file back, or accept the edit with ashlar migrate repair, which shows it'
const OTHER_NAME =
  'edited, and called otherwise in these files: they are those of another database or module, or the file was renamed: name the right folder with --files, or put the file back'
const RUNNING =
  'running: look again when it has ended; where its process is gone, the server ends the session with its statement, unless you end it before'
/** Not with the files of this command. */
const RUN_ELSEWHERE = 'run migrate up with --files and the folder that has it'
const DIRTY_ELSEWHERE = `dirty, and not in these files: ${RUN_ELSEWHERE}, or, where nothing of it is done, roll it back with ashlar migrate down; where statements of it are done, undo them by hand and record that with ashlar migrate resolve --rolled-back`
const AHEAD = 'ahead: these files do not have it; a newer release applied it, or its file was removed'

/**
 * One line for each version, and one that counts them.
 * @param isOurs - whether no other tool's history decides what `up` does.
 */
export function statusLines(
  versions: readonly VersionStatus[],
  paint: Paint,
  isOurs: boolean,
): readonly string[] {
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
    const reason = [whyDirty(version), refusalText(version)].filter((one) => one !== '').join('. ')
    const why = reason === '' ? '' : `: ${reason}`
    const adopted = isChecked ? '' : paint.dim(' (by another tool)')
    const framework = isFramework ? paint.dim(' (of the framework)') : ''
    return `${name.padEnd(width)} ${colour[state](state)}${since}${run}${adopted}${framework}${by}${other}${why}`
  })
  // Of a rollback that failed, its own line says what comes next.
  const failed = versions.filter(
    ({ state, unfinished }) => state === 'dirty' && unfinished?.direction !== 'down',
  )
  const edited = versions.filter(({ state }) => state === 'edited')
  const notes = [
    ...(versions.some(({ isRecorded }) => isRecorded) ? [RECORDED] : []),
    ...(edited.some(({ otherName }) => otherName === undefined) ? [EDITED] : []),
    ...(edited.some(({ otherName }) => otherName !== undefined) ? [OTHER_NAME] : []),
    ...(versions.some(({ state }) => state === 'running') ? [RUNNING] : []),
    ...dirtyLines(failed.filter(({ isMissing }) => isMissing)),
    ...(failed.some(({ isMissing }) => !isMissing) ? [DIRTY_ELSEWHERE] : []),
    ...(versions.some(({ state }) => state === 'ahead') ? [AHEAD] : []),
  ]
  return [...lines, summaryOf(versions, isOurs), ...notes]
}

/** What to do about dirty versions whose way up did not end. */
function dirtyLines(versions: readonly VersionStatus[]): readonly string[] {
  if (versions.length === 0) return []
  const cause = versions.some(({ error }) => error !== undefined)
    ? ', once the cause that it names is put right'
    : ''
  const onDown = versions.flatMap(({ name, unfinished }) =>
    unfinished?.onDown === undefined
      ? []
      : [versions.length === 1 ? unfinished.onDown : `${name}: ${unfinished.onDown}`],
  )
  return [[`dirty: ashlar migrate up goes on with it${cause}`, ...onDown].join('; ')]
}

/** What to do about a dirty version that the files do not have. MySQL keeps the statements that are done. */
export function wayOut(version: VersionStatus | undefined): string {
  const done = version?.unfinished?.direction === 'up' ? version.unfinished.done : 0
  const files = `${RUN_ELSEWHERE}, such as that of the release that began it`
  return done === 0
    ? `${files}; or, where nothing of it is done, roll it back with ashlar migrate down`
    : `${files}; without them undo by hand what is done (${done === 1 ? 'statement 1' : `statements 1 to ${done}`}), and record that with ashlar migrate resolve --rolled-back ${version?.version ?? ''}`
}

/** What is known of a dirty version; empty for any other. */
export const whyDirty = ({ unfinished, error, isEditedSince }: VersionStatus): string =>
  terminalLine(
    [
      unfinished?.text ?? '',
      error?.replace(/^migrations: /, '') ?? '',
      isEditedSince === true ? EDITED_SINCE : '',
    ]
      .filter((one) => one !== '')
      .join('. '),
    LONGEST_REASON,
  )

const EDITED_SINCE = 'The file was edited since that run'

/** Why `up` does not run it. */
const refusalText = ({ refusal }: VersionStatus): string =>
  refusal === undefined ? '' : `up refuses the file: ${terminalLine(refusal, LONGEST_REASON)}`

/** It may end with a query. */
const LONGEST_REASON = 1_000

const REFUSED = 'ashlar migrate up applies nothing, because lint refuses a file'

const STATES = ['applied', 'pending', 'running', 'dirty', 'edited', 'ahead'] as const

/** `4 versions: 2 applied, 2 pending; ashlar migrate up applies what is pending`. */
function summaryOf(versions: readonly VersionStatus[], isOurs: boolean): string {
  const counts = STATES.flatMap((state) => {
    const count = versions.filter((version) => version.state === state).length
    return count === 0 ? [] : [`${count} ${state}`]
  })
  const has = (...states: readonly VersionState[]) => versions.some(({ state }) => states.includes(state))
  const isRefused = versions.some(({ refusal }) => refusal !== undefined)
  const applies =
    isOurs && has('pending') && !has('running', 'dirty', 'edited')
      ? '; ashlar migrate up applies what is pending'
      : ''
  const todo = isRefused ? `; ${REFUSED}` : applies
  const many = versions.length === 1 ? '1 version' : `${versions.length} versions`
  return `${[many, ...(counts.length === 0 ? [] : [counts.join(', ')])].join(': ')}${todo}`
}
