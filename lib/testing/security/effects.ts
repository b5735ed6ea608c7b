import type { Message } from '@bufbuild/protobuf'
import { setTimeout as pause } from 'node:timers/promises'
import { type NamingRequest, keysWith, rowsFor } from './naming-request.js'
import { countRows, isBelow, removeRow, rowNear } from './world/hidden-rows.js'
import { isReadable, viewOf, WatchedRows } from './world/watched-rows.js'
import type { Subject } from './world/subjects.js'
import { makeRow, type Row, type World } from './world/world.js'

/** A request with certain values for its booleans and enums. */
export interface VariedRequest extends NamingRequest {
  /** The values, such as `all: true`; empty for the original request. */
  readonly variant: string
  /** Rows of the first tenant with which their owner has called the method, so that caches contain them. */
  readonly used: readonly Row[]
  readonly usedAt: number
  /** Calls the method as the owner of the rows. */
  readonly use: (rows: readonly Row[]) => Promise<unknown>
}

/** The time after which the deferred work of a call is expected to be done, in milliseconds. */
const LATER_MS = 110
const SOON_MS = 20
/** The time after which a long-running operation is expected to have written rows, in milliseconds. */
const OPERATION_MS = 1_000
const LONGEST_MS = 2_000

/**
 * Calls each method as the second tenant with rows of the first one. These rows must not change, neither at
 * once nor by the end of the check. Rows that no request names must not change either, and none may be added.
 */
export const checkEffects = async (world: World, requests: readonly VariedRequest[]): Promise<void> => {
  const readable = world.subjects.filter((subject) => subject.isTenants && isReadable(subject))
  if (requests.length === 0 || readable.length === 0) return
  // Waits for deferred work of the owners' calls, which may change the rows.
  await pause(LATER_MS)
  const watched = new WatchedRows<VariedRequest>(world, world.a)
  for (const subject of readable) {
    const row = await makeRow(world, subject, world.a)
    if (typeof row !== 'string') await watched.add(subject, row, undefined)
    const gone = await deletedRow(world, subject)
    if (gone !== undefined) await watched.add(subject, gone, undefined, true)
  }
  const others = new Set(watched.rows)
  const last: Message[][] = []
  for (const request of requests) {
    const sent: Message[] = []
    const cold = await rowsFor(world, request, world.a)
    if (typeof cold !== 'string') sent.push(...(await callWith(world, request, cold, watched, others)))
    if (request.used.length > 0) sent.push(...(await callWith(world, request, request.used, watched, others)))
    const gone = await Promise.all(request.named.map((subject) => deletedRow(world, subject)))
    if (typeof cold !== 'string' && gone.some((row) => row !== undefined)) {
      const rows = cold.map((row, at) => gone[at] ?? row)
      sent.push(...(await callWith(world, request, rows, watched, others, new Set(gone))))
    }
    last.push(sent)
  }
  await checkAgain(world, requests, last, readable)
  await checkLater(world, requests, watched)
}

/** Returns a row that its owner has soft-deleted; undefined if it no longer exists. */
const deletedRow = async (world: World, subject: Subject): Promise<Row | undefined> => {
  if (subject.repository?.model.deleteTime === undefined) return undefined
  const row = await makeRow(world, subject, world.a)
  return typeof row !== 'string' && (await removeRow(subject, world.a, row)) ? row : undefined
}

/**
 * Calls with rows of the other tenant, first each in place of one of the caller's own rows, and then all of
 * them.
 * @returns the requests.
 */
const callWith = async (
  world: World,
  request: VariedRequest,
  theirs: readonly Row[],
  watched: WatchedRows<VariedRequest>,
  others: ReadonlySet<Row>,
  gone: ReadonlySet<Row | undefined> = new Set(),
): Promise<readonly Message[]> => {
  const { probe, b } = world
  const { method, named, make } = request
  const [listener] = probe.listeners
  if (listener === undefined) return []
  const rows = new Set(others)
  for (const [at, subject] of named.entries())
    for (const [one, row] of await withBelow(world, subject, theirs[at] as Row)) {
      rows.add(row)
      if (one.isTenants) await watched.add(one, row, request, gone.has(row))
    }
  const places = named.flatMap(({ isTenants }, at) => (isTenants ? [at] : []))
  const all = theirs.map(({ key }) => key)
  const asked: ((own: readonly Row[]) => readonly string[])[] =
    places.length === 0 ? [(own) => own.map(({ key }) => key)] : []
  for (const at of places) asked.push((own) => keysWith(own, at, theirs[at]?.key ?? ''))
  if (named.length > 1) asked.push(() => all)
  const sent: Message[] = []
  for (const keysOf of asked) {
    const own = await rowsFor(world, request, b)
    if (typeof own === 'string') break
    const message = make(keysOf(own))
    sent.push(message)
    // The first call may leave a state that lets the second one succeed.
    for (let time = 0; time < 2; time++) await probe.send(listener, method.desc, message, b)
    for (const { subject, isDeleted } of await watched.changed((row) => rows.has(row))) {
      const used = theirs === request.used ? request : undefined
      if (!(await changesByItself(world, subject, { used, isDeleted, ms: SOON_MS })))
        say(world, request, subject, 'changes or removes')
    }
  }
  return sent
}

/**
 * Sends all requests again, so that an effect that needs two requests is found in either order, and counts
 * the owner's rows.
 */
const checkAgain = async (
  world: World,
  requests: readonly VariedRequest[],
  sent: readonly (readonly Message[])[],
  readable: readonly Subject[],
): Promise<void> => {
  const { probe, b } = world
  const [listener] = probe.listeners
  if (listener === undefined) return
  await pause(LATER_MS)
  const sendAll = async (at: number): Promise<void> => {
    for (const message of sent[at] ?? [])
      await probe.send(listener, (requests[at] as VariedRequest).method.desc, message, b)
  }
  const more = await added(world, readable, async () => {
    for (const at of requests.keys()) await sendAll(at)
  })
  if (more.length === 0 || (await added(world, more, () => Promise.resolve())).length > 0) return
  for (const [at, request] of requests.entries())
    for (const subject of await added(world, more, () => sendAll(at))) say(world, request, subject, 'adds')
}

/** Returns the resources of which the first tenant has more rows than before. */
const added = async (
  { a }: World,
  subjects: readonly Subject[],
  work: () => Promise<void>,
): Promise<readonly Subject[]> => {
  const before = await Promise.all(subjects.map((subject) => countRows(subject, a)))
  await work()
  await pause(LATER_MS)
  const after = await Promise.all(subjects.map((subject) => countRows(subject, a)))
  return subjects.filter((_, at) => (after[at] ?? 0) > (before[at] ?? 0))
}

/** Returns a row together with child rows and rows that refer to it. */
const withBelow = async (
  world: World,
  subject: Subject,
  row: Row,
): Promise<readonly (readonly [Subject, Row])[]> => {
  const near = new Map([[subject, row]])
  const below: (readonly [Subject, Row])[] = []
  for (const one of world.subjects) {
    if (one === subject || !one.isTenants || !isReadable(one) || !isBelow(one, subject)) continue
    const made = await rowNear(world, one, world.a, near)
    if (made !== undefined) below.push([one, made])
  }
  return [[subject, row], ...below]
}

/** Checks the rows again later, because a call may work after its response. */
const checkLater = async (
  world: World,
  requests: readonly VariedRequest[],
  watched: WatchedRows<VariedRequest>,
): Promise<void> => {
  const { probe, b } = world
  await pause(probe.operationsOf(b).length > 0 ? OPERATION_MS : LATER_MS)
  for (const { subject, by, row, isDeleted } of await watched.changed()) {
    const used = by?.used.includes(row) === true ? by : undefined
    if (await changesByItself(world, subject, { used, isDeleted, ms: LATER_MS })) continue
    say(world, by ?? (await whichChanges(world, subject, requests)), subject, 'later changes or removes')
  }
}

/** Finds the request that changes a row that it does not name. */
const whichChanges = async (
  world: World,
  subject: Subject,
  requests: readonly VariedRequest[],
): Promise<VariedRequest | undefined> => {
  const { probe, a, b } = world
  const [listener] = probe.listeners
  for (const request of requests) {
    const [row, theirs] = [await makeRow(world, subject, a), await rowsFor(world, request, a)]
    if (listener === undefined || typeof row === 'string' || typeof theirs === 'string') continue
    const before = await viewOf(world, subject, a, row)
    await probe.send(listener, request.method.desc, request.make(theirs.map(({ key }) => key)), b)
    await pause(LATER_MS)
    if ((await viewOf(world, subject, a, row)) !== before) return request
  }
  return undefined
}

interface Alone {
  /** The request with which the owner has called. */
  readonly used: VariedRequest | undefined
  readonly isDeleted: boolean
  readonly ms: number
}

/**
 * Returns true if a row changes in that time although only its owner uses it. A job of the service or the
 * owner's Create then changes it.
 */
const changesByItself = async (
  world: World,
  subject: Subject,
  { used, isDeleted, ms }: Alone,
): Promise<boolean> => {
  const { a } = world
  const rows = used === undefined ? undefined : await rowsFor(world, used, a)
  const row = Array.isArray(rows) ? (rows[used?.named.indexOf(subject) ?? -1] as Row | undefined) : undefined
  const one = row ?? (await (isDeleted ? deletedRow(world, subject) : makeRow(world, subject, a)))
  if (one === undefined || typeof one === 'string') return false
  if (used !== undefined && Array.isArray(rows)) await used.use(rows as readonly Row[])
  const before = await viewOf(world, subject, a, one)
  await makeRow(world, subject, a)
  await pause(used === undefined ? ms : Math.min(LONGEST_MS, Math.max(LATER_MS, Date.now() - used.usedAt)))
  return (await viewOf(world, subject, a, one)) !== before
}

const say = (
  { probe }: World,
  request: VariedRequest | undefined,
  { message }: Subject,
  does: string,
): void => {
  const values = request === undefined || request.variant === '' ? '' : `with ${request.variant}, `
  probe.findings.add(
    'isolation',
    request?.method.path ?? '',
    `${values}a call of another tenant ${does} a ${message.name}`,
    request === undefined ? '' : (probe.listeners[0]?.name ?? ''),
  )
}
