import { setTimeout as pause } from 'node:timers/promises'
import { MigrationError } from '../../errors.js'
import { type BoundedUpdate, boundedUpdate } from '../sql/backfill.js'
import { summaryOf } from '../sql/split-statements.js'
import { stopped, stoppedAgain } from '../messages/problem.js'
import { Pace } from './backfill-pace.js'
import { writeRows } from './backfill-rows.js'
import { type BackfillPosition, forgetPosition, readPosition, writePosition } from './backfill-position.js'
import { SessionError } from './session-error.js'
import { failureOf, type Step, watched } from './step.js'
import { isAborted } from './stoppable.js'
import { nextStretch, rowsBetween, type Stretch, type WalkedTable } from './walk.js'

/** The number of consecutive times that a chunk may wait for another client's lock. */
const MAX_ATTEMPTS = 6

/** The parts of a chunk. */
interface Walk {
  readonly step: Step
  readonly update: BoundedUpdate
  readonly table: WalkedTable
}

/**
 * Runs a backfill's only statement for successive parts of its table, in primary key order. Each chunk is a
 * transaction that also stores the position. A killed run therefore continues with the next row and neither
 * repeats nor skips rows.
 *
 * @param isResumed - true if an earlier run left the version dirty. Otherwise a stored position is ignored.
 * @throws {SessionError | MigrationError}
 */
export async function fillRows(step: Step, isResumed: boolean): Promise<void> {
  const { session, options, name: version, statements } = step
  const [statement] = statements
  const update = statement && boundedUpdate(statement)
  // Lint has rejected any other file.
  if (statement === undefined || update === undefined || step.backfill === undefined) return
  const event = { kind: 'statement', version, number: 1, of: 1, summary: summaryOf(statement) } as const
  options.report({ ...event, step: 'started' })
  const table = await session.engine.walk.find(session, update.table)
  if (table.key.length === 0)
    throw stopped('failed', {
      kind: 'backfillWithoutKey',
      version,
      file: step.file,
      table: update.table.join('.'),
    })
  const moved = table.key.find(({ column }) => update.sets.some((name) => isSame(name, column)))
  if (moved !== undefined)
    throw stopped('failed', { kind: 'backfillMovesKey', version, file: step.file, column: moved.column })
  const walk = { step, update, table }
  const pace = new Pace(step.backfill.chunk)
  const started = performance.now()
  let position = await beginning(walk, isResumed)
  const [first, before] = [position.walked, position.written]
  for (let isEnd = false, blocked = 0; !isEnd;) {
    await pause(pace.pauseMs, undefined, options.signal && { signal: options.signal }).catch(() => undefined)
    if (isAborted(options.signal))
      throw stopped('cancelled', {
        kind: 'cancelledBetweenChunks',
        version,
        file: step.file,
        written: position.written,
      })
    const [most, began] = [pace.rows, performance.now()]
    const stretch = await nextStretch(session, table, position.end, most)
    try {
      if (stretch !== undefined) position = await writeChunk(walk, position, stretch)
    } catch (error) {
      await session.run('ROLLBACK', 0).catch(() => undefined)
      if (!isPassing(step, error) || ++blocked === MAX_ATTEMPTS)
        throw failedChunk(walk, position, error, most)
      pace.blocked()
      continue
    }
    blocked = 0
    pace.written(performance.now() - began)
    isEnd = (stretch?.rows ?? 0) < most
    const ms = Math.max(1, Math.round(performance.now() - started))
    options.report({
      kind: 'filled',
      version,
      rows: position.written,
      earlier: before,
      walked: position.walked,
      of: table.rows,
      rate: Math.round(((position.walked - first) * 1_000) / ms),
      chunk: most,
      pauseMs: Math.round(pace.pauseMs),
      ms,
    })
  }
  options.report({ ...event, step: 'ended' })
}

/**
 * Returns the error of a chunk, with the number of rows written before it and the key after which it begins.
 */
function failedChunk({ step, table }: Walk, position: BackfillPosition, error: unknown, most: number): Error {
  const { end, written } = position
  const behind =
    end === undefined ? [] : table.key.map(({ column }, at) => ({ column, value: end[at] ?? '' }))
  const remains = { kind: 'chunk', behind, most, written } as const
  return error instanceof MigrationError
    ? stoppedAgain(error, { kind: 'chunkFailed', cause: error.problem, remains })
    : failureOf(step, 0, error, remains)
}

/** Deletes the position after the version is recorded as applied. Until then it must exist. */
export const endBackfill = ({ session, version }: Step): Promise<void> => forgetPosition(session, version)

async function beginning({ step, table }: Walk, isResumed: boolean): Promise<BackfillPosition> {
  const { session, options, version, name } = step
  const walks = `${table.name} (${table.key.map((column) => column.name).join(', ')})`
  const there = await readPosition(session, version)
  if (there !== undefined && isResumed && there.walks === walks) {
    const how = { kind: 'goesOnBehind', rows: there.walked, table: table.name } as const
    options.report({ kind: 'recovering', version: name, how })
    return there
  }
  const position = { walks, end: undefined, walked: 0, written: 0 }
  await writePosition(session, version, position)
  return position
}

/** Returns true if two column names are equal. MySQL ignores their case. */
const isSame = (name: string, column: string): boolean => name.toLowerCase() === column.toLowerCase()

const isPassing = ({ options }: Step, error: unknown): boolean =>
  error instanceof SessionError && options.engine.failures.passing.includes(error.code)

async function writeChunk(
  { step, update, table }: Walk,
  from: BackfillPosition,
  { end, rows }: Stretch,
): Promise<BackfillPosition> {
  const { session, options, version } = step
  const within = rowsBetween(session, table, update.alias, from.end, end)
  await session.run('START TRANSACTION', 0)
  const { fill } = step
  const written = await watched(step, () =>
    fill === undefined
      ? session.run(update.within(within), options.statementTimeoutMs, options.signal)
      : writeRows(step, fill, table, within),
  )
  const position = { ...from, end, walked: from.walked + rows, written: from.written + written }
  await writePosition(session, version, position)
  await session.run('COMMIT', 0)
  return position
}
