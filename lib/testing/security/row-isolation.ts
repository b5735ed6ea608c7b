import { CODES } from '../../errors.js'
import { type Filter, filter } from '../../persistence/index.js'
import { nameOf } from './denial.js'
import { checkTotal, type Reach, reaches, without } from './isolation.js'
import type { ListenerClient, Outcome } from './wire/listener-clients.js'
import { oneOf } from './world/key-filter.js'
import type { Caller } from './world/probe.js'
import { itemsOf, keyOf, requestFor } from './world/requests.js'
import type { Subject } from './world/subjects.js'
import { makeRow, type World } from './world/world.js'

/** The rows that a caller may access: those that match the predicate of their type, if it has one. */
export interface RowReach {
  /** Undefined if the caller may access no row. */
  where: ReadonlyMap<string, Filter> | undefined
}

/** A caller to whom the check's authorizer allows everything on the rows that match a predicate. */
export interface Limited {
  readonly caller: Caller
  readonly reach: RowReach
}

/** The maximum number of pages, more than the rows of the check need. */
const MAX_PAGES = 100

/**
 * Tries to access a row of the caller's own tenant that a row-level decision excludes. The row must appear
 * not to exist.
 */
export const checkRowIsolation = async (
  world: World,
  subject: Subject,
  { caller, reach: held }: Limited,
): Promise<void> => {
  const [hidden, shown] = [await makeRow(world, subject, world.a), await makeRow(world, subject, world.a)]
  if (subject.repository === undefined || typeof hidden === 'string' || typeof shown === 'string') return
  const keys = [hidden.key, shown.key]
  // Limits the list to these rows, because a resource may have thousands of others.
  const where = filter`${oneOf(subject, keys)} AND NOT ${oneOf(subject, [hidden.key])}`
  held.where = new Map([...typesOf(subject)].map((type) => [type, where]))
  const rows = { live: hidden, other: hidden, deleted: undefined, own: shown }
  for (const listener of world.probe.listeners) {
    for (const reach of reaches(world, subject, rows)) await judgeRow(world, listener, reach, caller)
    await checkPages(world, subject, listener, { caller, shown: shown.key })
  }
  held.where = undefined
}

/**
 * Returns the types about which the authorizer decides: those in the rules of standard methods and, for
 * related resources, the entity's type.
 */
export const typesOf = ({ repository, methods }: Subject): ReadonlySet<string> =>
  new Set([
    ...(repository === undefined ? [] : [repository.model.type]),
    ...methods.flatMap(({ rule, standard }) =>
      standard === undefined ? [] : (rule?.resource?.replace(/:.*/s, '') ?? []),
    ),
  ])

const judgeRow = async ({ probe }: World, listener: ListenerClient, reach: Reach, caller: Caller) => {
  const { path, desc, isStandard, isOwn, keys } = reach
  const excluded = await probe.send(listener, desc, reach.foreign, caller)
  const missing = await probe.send(listener, desc, reach.missing, caller)
  if (excluded === undefined || missing === undefined) return
  const say = (text: string) => probe.findings.add('isolation', path, text, listener.name)
  if (excluded.code === CODES.OK) return say('it answers for a row that a row-level decision excludes')
  if (excluded.code !== missing.code || without(excluded, keys) !== without(missing, keys))
    return say(
      `a row that a row-level decision excludes can be distinguished from a missing one: ${nameOf(excluded)}`,
    )
  const isOther = isStandard && excluded.code !== CODES.NOT_FOUND
  if (isOther || excluded.code === CODES.INTERNAL) notJudged(probe, { path, isOwn }, excluded, listener)
}

/**
 * Reports a method whose row access cannot be checked. A function without `supportsRowAccess` does not run
 * for row-level decisions.
 */
export const notJudged = (
  { findings }: World['probe'],
  { path, isOwn }: Pick<Reach, 'path' | 'isOwn'>,
  outcome: Outcome,
  listener: ListenerClient,
) => {
  if (isOwn && outcome.code === CODES.INTERNAL)
    return findings.leaveOut(path, 'row isolation: its function does not support row-level decisions')
  findings.add(
    'unchecked',
    path,
    `a call that a row-level decision restricts gets ${nameOf(outcome)}: ${outcome.message}`,
    listener.name,
  )
}

/** Reads pages of one row each. Each page must be full and none may contain the excluded row. */
const checkPages = async (
  world: World,
  subject: Subject,
  listener: ListenerClient,
  { caller, shown }: { readonly caller: Caller; readonly shown: string },
) => {
  const method = subject.of('list')
  if (method === undefined) return
  const { probe } = world
  const pages: Outcome[] = []
  const found: string[] = []
  let token = ''
  for (let page = 0; page < MAX_PAGES; page++) {
    const fields = { page_size: 1, page_token: token }
    const outcome = await probe.send(
      listener,
      method.desc,
      requestFor(world.a, subject, method, { key: shown, fields }),
      caller,
    )
    if (outcome === undefined) return
    if (outcome.code !== CODES.OK) return notJudged(probe, method, outcome, listener)
    pages.push(outcome)
    found.push(...itemsOf(method.standard.items, outcome.response).map((item) => keyOf(subject, item)))
    token = (outcome.response as { readonly nextPageToken?: string } | undefined)?.nextPageToken ?? ''
    if (token === '') break
  }
  for (const { response } of pages) checkTotal(world, method, listener, response, found.length)
  if (found.length !== 1 || found[0] !== shown)
    probe.findings.add(
      'isolation',
      method.path,
      'its pages differ from the rows that a row-level decision allows',
      listener.name,
    )
}
