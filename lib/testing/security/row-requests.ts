import type { Message } from '@bufbuild/protobuf'
import { CODES } from '../../errors.js'
import { nameOf } from './denial.js'
import { aNameOf, CHANGING, COMING, dependenceOf, inField, NAMED, type Staging } from './dependence.js'
import { without } from './isolation.js'
import { keysWith, type NamingRequest, REACHED, rowsFor, withIds } from './naming-request.js'
import { checkReturned, textsIn } from './returned-rows.js'
import { type Limited, notJudged } from './row-isolation.js'
import { exclude, excludedRows, namedRow, rowsAbove } from './scenes.js'
import type { ListenerClient, Outcome } from './wire/listener-clients.js'
import type { Subject } from './world/subjects.js'
import { makeRow, newKey, type Row, type World } from './world/world.js'

/**
 * Calls a custom method as a caller who may access all rows except some: each row that its request names, and
 * rows related to these. The resource in its rule is not used, because a rule may name another one.
 */
export const checkRowRequests = async (
  world: World,
  naming: NamingRequest,
  limited: Limited,
): Promise<void> => {
  const { reach } = limited
  for (const listener of world.probe.listeners)
    for (const [index, subject] of naming.named.entries())
      if (subject.repository !== undefined) await checkNamed(world, naming, index, limited, listener)
  const subjects = world.subjects.filter(({ repository }) => repository !== undefined)
  await checkDependence(world, naming, limited, {
    ...COMING,
    subjects,
    begin: (some) => excludedRows(world, naming, some, reach),
  })
  for (const subject of subjects)
    if (!naming.named.includes(subject))
      await checkDependence(world, naming, limited, {
        ...CHANGING,
        subjects: [subject],
        begin: (some) => rowsAbove(world, naming, some, reach),
      })
  reach.where = undefined
}

/** Checks that a method's response does not depend on the rows and does not contain them. */
const checkDependence = async (
  world: World,
  { method }: NamingRequest,
  { caller }: Limited,
  staging: Omit<Staging, 'method' | 'caller' | 'look'>,
): Promise<void> => {
  const { findings, listeners } = world.probe
  const [listener] = listeners
  if (listener === undefined) return
  const look: Staging['look'] = async (outcome, { hidden, shown }) => {
    for (const [subject, row] of hidden)
      if (holds(world, outcome, { subject, row, shown }))
        findings.add(
          'isolation',
          method.path,
          `its response contains a ${subject.message.name} that a row-level decision excludes`,
          listener.name,
        )
    const returned = { desc: method.desc, response: outcome.response }
    await checkReturned(world, listener, returned, { caller, owner: world.a })
  }
  for (const { subjects, path } of await dependenceOf(world, { ...staging, method, caller, look }))
    findings.add(
      'isolation',
      method.path,
      `what it returns${inField(path)} depends on ${aNameOf(subjects)} that a row-level decision excludes`,
      listener.name,
    )
}

/** Excludes a row that the request names. It must appear not to exist for this caller. */
const checkNamed = async (
  world: World,
  naming: NamingRequest,
  index: number,
  limited: Limited,
  listener: ListenerClient,
): Promise<void> => {
  const { probe, a } = world
  const { caller, reach } = limited
  const { method, named, make } = naming
  const { desc, path, isOwn } = method
  const subject = named[index] as Subject
  const hidden = await makeRow(world, subject, a)
  const rows = await rowsFor(world, naming, a)
  if (typeof hidden === 'string' || typeof rows === 'string') return
  exclude(reach, a, [subject], new Map([[subject, hidden]]))
  const keys = [hidden.key, newKey(subject, a)]
  const ask = (message: Message) => probe.send(listener, desc, message, caller)
  const [ofHidden, ofMissing] = keys.map((key) => make(keysWith(rows, index, key))) as [Message, Message]
  const excluded = await ask(ofHidden)
  const missing = await ask(ofMissing)
  const shown = await ask(make(rows.map(({ key }) => key)))
  if (excluded === undefined || missing === undefined || shown === undefined) return
  if (excluded.code === CODES.INTERNAL) return notJudged(probe, { path, isOwn }, excluded, listener)
  const say = (text: string) => probe.findings.add('isolation', path, text, listener.name)
  const what = `a ${subject.message.name} that a row-level decision excludes`
  if (excluded.code === CODES.OK) {
    if (missing.code !== CODES.OK) return say(`it does its work with ${what}`)
    const others = rows.filter((_, at) => at !== index)
    if (holds(world, excluded, { subject, row: hidden, shown: others }))
      return say(`its response contains ${what}`)
    if (listener !== probe.listeners[0]) return
    // The call also succeeds for a missing row, so that only the response can show a difference.
    const begin = () => namedRow(world, naming, { index, caller: a, owner: a, reach })
    return checkDependence(world, naming, limited, { ...NAMED, subjects: [subject], begin })
  }
  const all = withIds(keys)
  if (excluded.code !== missing.code || without(excluded, all) !== without(missing, all))
    return say(`${what} can be distinguished from a missing one: ${nameOf(excluded)}`)
  if (!REACHED.has(shown.code))
    probe.findings.leaveOut(path, `row isolation: with rows that its caller may use it gets ${nameOf(shown)}`)
}

interface Hidden {
  readonly subject: Subject
  readonly row: Row
  /** Rows of the request that the caller may access. */
  readonly shown: readonly Row[]
}

/**
 * Returns true if the response contains a string of the row. Strings that another resource or an accessible
 * row of the request also contains are ignored, because the caller may read those.
 */
const holds = ({ madeUp }: World, { response, message: said }: Outcome, { subject, row, shown }: Hidden) => {
  const all = [said, ...textsIn(response)].join('\n')
  const seen = new Set(shown.flatMap(({ message }) => [...textsIn(message)]))
  return [...textsIn(row.message)].some(
    (text) => madeUp.get(text) === subject && !seen.has(text) && new RegExp(`${text}(?!\\d)`).test(all),
  )
}
