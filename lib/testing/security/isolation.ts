import { create, type Message, ScalarType, toBinary } from '@bufbuild/protobuf'
import { CODES } from '../../errors.js'
import { getField, type Local } from '../../resource/messages/local-field.js'
import { nameOf } from './denial.js'
import { REACHED } from './naming-request.js'
import type { ListenerClient, Outcome } from './wire/listener-clients.js'
import type { Caller } from './world/probe.js'
import { itemsOf, keyOf, type Location, requestFor, scopeTextAt } from './world/requests.js'
import { withoutKey } from './world/made-up-keys.js'
import { maskableFields } from './world/samples.js'
import type { Kind, Standard, Subject } from './world/subjects.js'
import { draft, keyInNewParent, makeRow, newKey, type Row, type Side, type World } from './world/world.js'

/** The rows of both tenants for one resource. */
interface Rows {
  readonly live: Row
  readonly other: Row
  /** A soft-deleted row, if the resource supports it. */
  readonly deleted: Row | undefined
  /** A row of tenant b. */
  readonly own: Row
}

/**
 * Tries every method that could access a resource of tenant a, as tenant b. The resource must appear not to
 * exist.
 */
export const checkIsolation = async (world: World, subject: Subject): Promise<void> => {
  const rows = await rowsOf(world, subject)
  if (typeof rows === 'string') return leaveUnchecked(world, subject, rows)
  const before = await viewOf(world, subject, rows)
  for (const listener of world.probe.listeners) {
    for (const reach of reaches(world, subject, rows)) await judge(world, listener, reach)
    await checkList(world, subject, rows, listener)
    await checkPublic(world, subject, rows, listener)
  }
  // Runs last, because tenant b may afterwards have the same ids.
  for (const listener of world.probe.listeners)
    await checkCreate(world, subject, listener.name === 'grpc' ? rows.live : rows.other, listener)
  const after = await viewOf(world, subject, rows)
  for (const [key, bytes] of before)
    if (after.get(key) !== bytes)
      world.probe.findings.add(
        'isolation',
        subject.of('update')?.path ?? subject.message.typeName,
        "another tenant's calls changed or removed a resource",
      )
}

const rowsOf = async (world: World, subject: Subject): Promise<Rows | string> => {
  const { probe, a, b } = world
  const made: Row[] = []
  for (const side of [a, a, a, b]) {
    const row = await makeRow(world, subject, side)
    if (typeof row === 'string') return row
    made.push(row)
  }
  const [live, other, gone, own] = made as [Row, Row, Row, Row]
  const method = subject.of('delete')
  const [listener] = probe.listeners
  if (method === undefined || listener === undefined) return { live, other, deleted: undefined, own }
  await probe.send(listener, method.desc, requestFor(a, subject, method, { key: gone.key }), a)
  return { live, other, deleted: gone, own }
}

/** Reports the methods of a resource as unchecked, because no row could be created. */
export const leaveUnchecked = ({ probe }: World, subject: Subject, why: string): void => {
  for (const { path, standard } of subject.methods)
    if (standard !== undefined) probe.findings.add('unchecked', path, why)
}

/** Reads tenant a's live resources as tenant a. */
const viewOf = async (
  { probe, a }: World,
  subject: Subject,
  { live, other }: Rows,
): Promise<ReadonlyMap<string, string>> => {
  const get = subject.of('get')
  const [listener] = probe.listeners
  const view = new Map<string, string>()
  if (get === undefined || listener === undefined) return view
  for (const { key } of [live, other]) {
    const outcome = await probe.send(listener, get.desc, requestFor(a, subject, get, { key }), a)
    const bytes = outcome?.response && toBinary(get.desc.output, outcome.response)
    view.set(key, bytes === undefined ? '' : Buffer.from(bytes).toString('latin1'))
  }
  return view
}

/** A call that may access another tenant's resource, and the same call for a missing resource. */
export interface Reach {
  readonly path: string
  readonly desc: Standard['desc']
  readonly isStandard: boolean
  /** True if only an application function implements the method. */
  readonly isOwn: boolean
  readonly foreign: Message
  readonly missing: Message
  readonly keys: readonly string[]
}

export const reaches = (world: World, subject: Subject, { live, deleted, own }: Rows): readonly Reach[] => {
  const entity = draft(world, subject, world.b)
  const mask = maskableFields(subject).map(({ name }) => name)
  const etag = etagOf(live)
  const marked = create(subject.message, { ...entity, ...(etag !== '' && { etag }) })
  const none = newKey(subject, world.a)
  type Asking = (key: string) => Parameters<typeof requestFor>[3]
  const of = (kind: Kind, asking: Asking, { key } = live): readonly Reach[] => {
    const method = subject.of(kind)
    if (method === undefined) return []
    const ask = (one: string) => requestFor(world.a, subject, method, asking(one))
    const { path, desc, isOwn } = method
    return [{ path, desc, isStandard: true, isOwn, foreign: ask(key), missing: ask(none), keys: [key, none] }]
  }
  return [
    ...of('get', (key) => ({ key })),
    ...of('update', (key) => ({ key, entity, mask: mask.slice(0, 1) })),
    ...of('update', (key) => ({ key, entity: marked, mask: ['*'] })),
    ...of('batchGet', (key) => ({ keys: [key] })),
    ...of('batchGet', (key) => ({ keys: [own.key, key] })),
    ...of('batchUpdate', (key) => ({ keys: [key], entity, mask: mask.slice(0, 1) })),
    ...of('batchUpdate', (key) => ({ keys: [own.key, key], entity, mask: mask.slice(0, 1) })),
    ...of('batchDelete', (key) => ({ keys: [own.key, key] })),
    ...of('batchDelete', (key) => ({ keys: [key] })),
    ...(deleted === undefined ? [] : of('undelete', (key) => ({ key }), deleted)),
    ...of('delete', (key) => ({ key, fields: etag === '' ? {} : { etag } })),
    ...of('delete', (key) => ({ key })),
  ]
}

const etagOf = ({ message }: Row): string => {
  const { etag } = message as Local
  return typeof etag === 'string' ? etag : ''
}

/**
 * Compares the responses for the foreign and the missing resource.
 * @returns true if both calls reach the caller's own resources, so that only a value can show a difference.
 */
export const judge = async (
  { probe, b }: World,
  listener: ListenerClient,
  reach: Omit<Reach, 'isOwn'>,
): Promise<boolean> => {
  const { path, desc, isStandard, keys } = reach
  const foreign = await probe.send(listener, desc, reach.foreign, b)
  const missing = await probe.send(listener, desc, reach.missing, b)
  if (foreign === undefined || missing === undefined) return false
  const say = (text: string) => probe.findings.add('isolation', path, text, listener.name)
  if (foreign.code === CODES.OK) {
    if (!isStandard && missing.code === CODES.OK) return true
    say("it returns another tenant's resource as if it were the caller's own")
  } else if (foreign.code !== missing.code || without(foreign, keys) !== without(missing, keys))
    say(`another tenant's resource can be distinguished from a missing one: ${nameOf(foreign)}`)
  else if (!isStandard && REACHED.has(foreign.code)) return true
  else if (isStandard && foreign.code !== CODES.NOT_FOUND)
    probe.findings.add(
      'unchecked',
      path,
      `another tenant gets ${nameOf(foreign)}, not NOT_FOUND: ${foreign.message}`,
      listener.name,
    )
  return false
}

/** Returns the error message with each key replaced by a placeholder. */
export const without = ({ message }: Outcome, keys: readonly string[]): string =>
  keys.reduce((text, key) => withoutKey(text, key, '<key>'), message)

const checkList = async (
  world: World,
  subject: Subject,
  { live, other, deleted }: Rows,
  listener: ListenerClient,
) => {
  const method = subject.of('list')
  if (method === undefined) return
  const { probe, a, b } = world
  const theirs = [live, other, ...(deleted === undefined ? [] : [deleted])].map(({ key }) => key)
  const key = subject.key.name
  const ask = (fields: Readonly<Record<string, unknown>>, location: Location) =>
    requestFor(location, subject, method, { fields })
  const first = await probe.send(listener, method.desc, ask({ page_size: 1 }, a), a)
  const { nextPageToken = '' } = (first?.response ?? {}) as { readonly nextPageToken?: string }
  const [one, none] = [live.key, newKey(subject, a)].map((text) =>
    subject.key.scalar === ScalarType.STRING ? JSON.stringify(text) : text,
  ) as [string, string]
  const filters = [`${key} = ${one}`, `${key} != ${none}`, `${key} = ${none} OR ${key} != ${none}`]
  const asked = [
    {},
    { show_deleted: true, page_size: 1000 },
    ...filters.map((filter) => ({ filter, show_deleted: true, page_size: 1000 })),
    { order_by: `${key} desc`, page_size: 1000 },
    ...(nextPageToken === '' ? [] : [{ page_token: nextPageToken, page_size: 1 }]),
    { page_token: Buffer.from('0').toString('base64'), page_size: 1000 },
    { q: 'check', show_deleted: true },
  ]
  for (const location of locationsOf(subject, [b, a]))
    for (const fields of asked) {
      const outcome = await probe.send(listener, method.desc, ask(fields, location), b)
      const keys = itemsOf(method.standard.items, outcome?.response).map((item) => keyOf(subject, item))
      if (keys.some((one) => theirs.includes(one)))
        probe.findings.add('isolation', method.path, "it lists another tenant's resources", listener.name)
    }
  for (const caller of [a, b]) {
    const all = await probe.send(listener, method.desc, ask({ page_size: 1000 }, caller), caller)
    const { nextPageToken: more = '' } = (all?.response ?? {}) as { readonly nextPageToken?: string }
    if (method.standard.total === undefined || more !== '') continue
    // If the list has a single page, it was counted already.
    const one = await probe.send(listener, method.desc, ask({ page_size: 1 }, caller), caller)
    const { length } = itemsOf(method.standard.items, all?.response)
    for (const outcome of [all, one]) checkTotal(world, method, listener, outcome?.response, length)
  }
}

/**
 * Returns the locations whose lists are read. Both tenants use the same request unless the numeric keys of
 * their parents differ.
 */
const locationsOf = (subject: Subject, [own, other]: readonly [Location, Location]): readonly Location[] => {
  const textOf = (location: Location) =>
    [...subject.scope.keys()].map((name) => scopeTextAt(location, subject, name)).join()
  return textOf(own) === textOf(other) ? [own] : [own, other]
}

/**
 * Checks the total of a list. It must equal the number of shown rows, because a higher one would reveal
 * deleted rows or rows of other callers.
 */
export const checkTotal = (
  { probe }: World,
  { path, standard }: Standard<'list'>,
  listener: ListenerClient,
  response: Message | undefined,
  shown: number,
): void => {
  const said = standard.total && response && getField(response, standard.total)
  if (said !== undefined && Number(said) > shown)
    probe.findings.add(
      'isolation',
      path,
      'its total counts rows that it does not show to the caller',
      listener.name,
    )
}

/**
 * Checks that a resource that claims another tenant belongs to its creator, and that an id used by another
 * tenant is available.
 */
const checkCreate = async (
  world: World,
  subject: Subject,
  taken: Row,
  listener: ListenerClient,
): Promise<void> => {
  const method = subject.of('create')
  if (method === undefined) return
  const { probe, a, b } = world
  const send = (caller: Caller, request: Message) =>
    probe.send(listener, method.desc, request, caller, { shows: true })
  const [tenant, theirs] = tenantIn(subject, a)
  const claimed = create(subject.message, { ...draft(world, subject, b), [tenant]: theirs })
  const own = async (key: string): Promise<string> =>
    (world.apart.has(subject) ? await keyInNewParent(world, subject, b) : undefined) ?? key
  const key = await own(subject.keyPattern === '*' ? '' : newKey(subject, b))
  const made = await send(b, requestFor(b, subject, method, { key, entity: claimed }))
  if ((made?.response as Readonly<Record<string, unknown>> | undefined)?.[tenant] === theirs)
    probe.findings.add('isolation', method.path, 'a caller can create for another tenant', listener.name)
  // Callers cannot choose a generated number.
  if (subject.isIdentity) return
  const again = { key: withIdOf(taken.key, await own(taken.key)), entity: draft(world, subject, b) }
  const refused = await send(b, requestFor(b, subject, method, again))
  if (refused?.code !== CODES.ALREADY_EXISTS) return
  if (subject.repository?.model.tenantInKey === false)
    return probe.findings.leaveOut(
      method.path,
      "the tenant is not part of the table's key, so a rejected id reveals that another tenant has it",
    )
  probe.findings.add(
    'isolation',
    method.path,
    'an id that another tenant uses is rejected as taken',
    listener.name,
  )
}

/** Returns the message's tenant field and its value for one side. */
function tenantIn({ message, repository }: Subject, { tenant }: Side): readonly [string, unknown] {
  const proto = repository?.model.tenant?.proto
  const { localName = 'accountId' } = message.fields.find(({ name }) => name === proto) ?? {}
  const unset = (create(message) as Local)[localName]
  if (typeof unset === 'bigint') return [localName, BigInt(tenant)]
  return [localName, typeof unset === 'number' ? Number(tenant) : tenant]
}

/** Replaces the last part of a resource name with the last part of another name. */
const withIdOf = (taken: string, key: string): string =>
  key.replace(/[^/]*$/, () => taken.slice(taken.lastIndexOf('/') + 1))

/** Checks that a public method, which has no tenant, returns no tenant's data. */
const checkPublic = async (
  { probe, a, b }: World,
  subject: Subject,
  { live }: Rows,
  listener: ListenerClient,
): Promise<void> => {
  const stranger: Caller = { headers: {}, mustNotSee: b.mustNotSee }
  for (const kind of ['get', 'list', 'batchGet'] as const) {
    const method = subject.of(kind)
    if (method?.rule?.public !== true) continue
    const asking = { key: live.key, fields: { page_size: 1000 } }
    await probe.send(listener, method.desc, requestFor(a, subject, method, asking), stranger)
  }
}
