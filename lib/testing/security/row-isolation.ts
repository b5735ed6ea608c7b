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

/** The rows that a caller may reach: those for which the predicate of their type is true, if it has one. */
export interface RowReach {
  /** Undefined where the caller may reach nothing. */
  where: ReadonlyMap<string, Filter> | undefined
}

/** A caller that the authorizer of the check allows everything, for the rows of a predicate. */
export interface Limited {
  readonly caller: Caller
  readonly reach: RowReach
}

/** More pages than the check has rows. */
const MAX_PAGES = 100

/**
 * A caller tries to reach a row of its own tenant that a row-level decision excludes, which must look
 * missing.
 */
export const checkRowIsolation = async (
  world: World,
  subject: Subject,
  { caller, reach: held }: Limited,
): Promise<void> => {
  const [hidden, shown] = [await makeRow(world, subject, world.a), await makeRow(world, subject, world.a)]
  if (subject.repository === undefined || typeof hidden === 'string' || typeof shown === 'string') return
  const keys = [hidden.key, shown.key]
  // Most resources have no third row of their own in this list, and some have thousands of others.
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
 * The types that the authorizer decides about: those in the rules of standard methods, and, for related
 * resources, the type of the entity.
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
 * A function without the mark of `supportsRowAccess` is not run. Anything else has to show what rows it
 * reaches.
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

/** Pages of one row each: each is full, and none has the row that is excluded. */
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
