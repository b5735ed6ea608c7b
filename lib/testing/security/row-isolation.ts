import { CODES } from '../../errors.js'
import { type Filter, filter } from '../../persistence/index.js'
import { nameOf } from './denial.js'
import { type Reach, reaches, without } from './isolation.js'
import type { ListenerClient } from './listener-clients.js'
import type { Caller } from './probe.js'
import { itemsOf, keyOf, requestFor } from './requests.js'
import type { Subject } from './subjects.js'
import { makeRow, type World } from './world.js'

/** Somebody whom the authorizer of the check allows everything, for the rows of a predicate. */
export interface Limited {
  readonly caller: Caller
  readonly reach: { where: Filter | undefined }
}

/** More pages than the check has rows. */
const MOST_PAGES = 100

/** Somebody reaches for a row of the own tenant that a decision by row excludes: it is not there. */
export const checkRowIsolation = async (
  world: World,
  subject: Subject,
  { caller, reach: held }: Limited,
): Promise<void> => {
  const [hidden, shown] = [await makeRow(world, subject, world.a), await makeRow(world, subject, world.a)]
  if (subject.repository === undefined || typeof hidden === 'string' || typeof shown === 'string') return
  const keys = [hidden.key, shown.key]
  // Most resources have no third row of their own in this list, and some have thousands of others.
  held.where = filter`${oneOf(subject, keys)} AND NOT ${oneOf(subject, [hidden.key])}`
  const rows = { live: hidden, other: hidden, deleted: undefined, own: shown }
  for (const listener of world.probe.listeners) {
    for (const reach of reaches(world, subject, rows)) await judge(world, listener, reach, caller)
    await checkPages(world, subject, listener, { caller, shown: shown.key })
  }
  held.where = undefined
}

const oneOf = ({ key }: Subject, keys: readonly string[]): Filter =>
  `(${keys.map((one) => `${key.name} = ${JSON.stringify(one)}`).join(' OR ')})` as Filter

const judge = async ({ probe }: World, listener: ListenerClient, reach: Reach, caller: Caller) => {
  const { path, desc, keys } = reach
  const excluded = await probe.send(listener, desc, reach.foreign, caller)
  const missing = await probe.send(listener, desc, reach.missing, caller)
  if (excluded === undefined || missing === undefined) return
  const say = (text: string) => probe.findings.add('isolation', path, text, listener.name)
  if (excluded.code === CODES.OK) return say('it answers for a row that a decision by row excludes')
  if (excluded.code !== missing.code || without(excluded, keys) !== without(missing, keys))
    return say(
      `a row that a decision by row excludes can be told from what is not there: ${nameOf(excluded)}`,
    )
  if (excluded.code === CODES.INTERNAL)
    probe.findings.leaveOut(path, 'isolation by row: its function does not support decisions by row')
}

/** Pages of one row each: each is full, and none has the row that is excluded. */
const checkPages = async (
  { probe }: World,
  subject: Subject,
  listener: ListenerClient,
  { caller, shown }: { readonly caller: Caller; readonly shown: string },
) => {
  const method = subject.of('list')
  if (method === undefined) return
  const found: string[] = []
  let token = ''
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const fields = { page_size: 1, page_token: token }
    const outcome = await probe.send(listener, method.desc, requestFor(subject, method, { fields }), caller)
    if (outcome?.code !== CODES.OK) return
    found.push(...itemsOf(method.standard.items, outcome.response).map((item) => keyOf(subject, item)))
    token = (outcome.response as { readonly nextPageToken?: string } | undefined)?.nextPageToken ?? ''
    if (token === '') break
  }
  if (found.length !== 1 || found[0] !== shown)
    probe.findings.add(
      'isolation',
      method.path,
      'its pages are not those of the rows that a decision by row allows',
      listener.name,
    )
}
