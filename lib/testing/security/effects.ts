import { setTimeout as pause } from 'node:timers/promises'
import { type NamingRequest, keysWith, rowsFor } from './naming-request.js'
import { isBelow, rowNear } from './world/hidden-rows.js'
import { isReadable, viewOf, WatchedRows } from './world/watched-rows.js'
import type { Subject } from './world/subjects.js'
import { makeRow, type Row, type World } from './world/world.js'

/** A request with values of its booleans and enums. */
export interface VariedRequest extends NamingRequest {
  /** The values, such as `all: true`; empty for the request as it was made. */
  readonly variant: string
  /** Rows of the first tenant with which their owner has called the method, so that caches have them. */
  readonly used: readonly Row[]
  readonly usedAt: number
  /** Calls the method as the owner of the rows. */
  readonly use: (rows: readonly Row[]) => Promise<unknown>
}

/** What a call leaves to be done later is done by then. */
const LATER_MS = 110
const SOON_MS = 20
const LONGEST_MS = 2_000

/**
 * The second tenant calls each method with rows of the first one, which have to stay as they are: at once,
 * and at the end of the check. Rows that no request names have to stay as well.
 */
export const checkEffects = async (world: World, requests: readonly VariedRequest[]): Promise<void> => {
  const readable = world.subjects.filter((subject) => subject.isTenants && isReadable(subject))
  if (requests.length === 0 || readable.length === 0) return
  // What the owners' calls leave to be done later is theirs to do.
  await pause(LATER_MS)
  const watched = new WatchedRows<VariedRequest>(world, world.a)
  for (const subject of readable) {
    const row = await makeRow(world, subject, world.a)
    if (typeof row !== 'string') await watched.add(subject, row, undefined)
  }
  const others = new Set(watched.rows)
  for (const request of requests) {
    const cold = await rowsFor(world, request, world.a)
    if (typeof cold !== 'string') await callWith(world, request, cold, watched, others)
    if (request.used.length > 0) await callWith(world, request, request.used, watched, others)
  }
  await checkLater(world, requests, watched)
}

/** Calls with rows of the other tenant, each in the place of the caller's own, and then with all of them. */
const callWith = async (
  world: World,
  request: VariedRequest,
  theirs: readonly Row[],
  watched: WatchedRows<VariedRequest>,
  others: ReadonlySet<Row>,
): Promise<void> => {
  const { probe, b } = world
  const { method, named, make } = request
  const [listener] = probe.listeners
  if (listener === undefined) return
  const rows = new Set(others)
  for (const [at, subject] of named.entries())
    for (const [one, row] of await withBelow(world, subject, theirs[at] as Row)) {
      rows.add(row)
      if (one.isTenants) await watched.add(one, row, request)
    }
  const places = named.flatMap(({ isTenants }, at) => (isTenants ? [at] : []))
  const all = theirs.map(({ key }) => key)
  const asked: ((own: readonly Row[]) => readonly string[])[] =
    places.length === 0 ? [(own) => own.map(({ key }) => key)] : []
  for (const at of places) asked.push((own) => keysWith(own, at, theirs[at]?.key ?? ''))
  if (named.length > 1) asked.push(() => all)
  for (const keysOf of asked) {
    const own = await rowsFor(world, request, b)
    if (typeof own === 'string') return
    await probe.send(listener, method.desc, make(keysOf(own)), b)
    for (const { subject } of await watched.changed((row) => rows.has(row)))
      if (!(await changesByItself(world, subject, theirs === request.used ? request : undefined, SOON_MS)))
        say(world, request, subject, 'changes or removes')
  }
}

/** A row, and rows that are in it or refer to it. */
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

/** A call may do its work after its response. */
const checkLater = async (
  world: World,
  requests: readonly VariedRequest[],
  watched: WatchedRows<VariedRequest>,
): Promise<void> => {
  await pause(LATER_MS)
  for (const { subject, by, row } of await watched.changed()) {
    const used = by?.used.includes(row) === true ? by : undefined
    if (await changesByItself(world, subject, used, LATER_MS)) continue
    say(world, by ?? (await whichChanges(world, subject, requests)), subject, 'later changes or removes')
  }
}

/** The request that changes a row that it does not name. */
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

/**
 * Whether a row of its owner alone changes in the time: then a job of the service does it, or a Create of its
 * owner.
 * @param used - a request with which the owner has called.
 */
const changesByItself = async (
  world: World,
  subject: Subject,
  used: VariedRequest | undefined,
  ms: number,
): Promise<boolean> => {
  const { a } = world
  const rows = used === undefined ? undefined : await rowsFor(world, used, a)
  const row = Array.isArray(rows) ? (rows[used?.named.indexOf(subject) ?? -1] as Row | undefined) : undefined
  const one = row ?? (await makeRow(world, subject, a))
  if (typeof one === 'string') return false
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
