import type { Message } from '@bufbuild/protobuf'
import { CODES } from '../../errors.js'
import { filter } from '../../persistence/index.js'
import { nameOf } from './denial.js'
import { without } from './isolation.js'
import type { ListenerClient, Outcome } from './wire/listener-clients.js'
import { keysWith, type NamingRequest, REACHED, rowsFor, withIds } from './own-requests.js'
import { requestFor } from './world/requests.js'
import { checkReturned, textsIn } from './returned-rows.js'
import { type Limited, notJudged, oneOf, typesOf } from './row-isolation.js'
import type { Local } from '../../resource/messages/local-field.js'
import type { Subject } from './world/subjects.js'
import { makeRow, newKey, type Row, sendRow, type World } from './world/world.js'

/**
 * Somebody who may use all rows but one calls a method of the application, for each type of which its request
 * names a row, or leads to one. What its rule names is not asked for: a rule may name another resource.
 */
export const checkRowRequests = async (
  world: World,
  naming: NamingRequest,
  limited: Limited,
): Promise<void> => {
  for (const listener of world.probe.listeners) {
    for (const [index, subject] of naming.named.entries())
      if (subject.repository !== undefined) await checkNamed(world, naming, index, limited, listener)
    for (const subject of world.subjects)
      if (subject.repository !== undefined) await checkLedTo(world, naming, subject, limited, listener)
  }
  limited.reach.where = undefined
}

/** A row that the request names is excluded: for this caller it is not there. */
const checkNamed = async (
  world: World,
  naming: NamingRequest,
  index: number,
  { caller, reach }: Limited,
  listener: ListenerClient,
): Promise<void> => {
  const { probe, a } = world
  const { method, named, make } = naming
  const { desc, path, isOwn } = method
  const subject = named[index] as Subject
  const hidden = await makeRow(world, subject, a)
  const rows = await rowsFor(world, naming, a)
  if (typeof hidden === 'string' || typeof rows === 'string') return
  exclude(reach, subject, hidden.key)
  const keys = [hidden.key, newKey(subject)]
  const ask = (message: Message) => probe.send(listener, desc, message, caller)
  const [ofHidden, ofMissing] = keys.map((key) => make(keysWith(rows, index, key))) as [Message, Message]
  const excluded = await ask(ofHidden)
  const missing = await ask(ofMissing)
  const shown = await ask(make(rows.map(({ key }) => key)))
  if (excluded === undefined || missing === undefined || shown === undefined) return
  if (excluded.code === CODES.INTERNAL) return notJudged(probe, { path, isOwn }, excluded, listener)
  const say = (text: string) => probe.findings.add('isolation', path, text, listener.name)
  const what = `a ${subject.message.name} that a decision by row excludes`
  if (excluded.code === CODES.OK) {
    if (missing.code !== CODES.OK) return say(`it does its work with ${what}`)
    if (holds(excluded, hidden, a.text)) return say(`its response holds ${what}`)
    return probe.findings.leaveOut(
      path,
      'it returns OK for missing resources too, so the result shows nothing',
    )
  }
  const all = withIds(keys)
  if (excluded.code !== missing.code || without(excluded, all) !== without(missing, all))
    return say(`${what} can be told from what is not there: ${nameOf(excluded)}`)
  if (!REACHED.has(shown.code))
    probe.findings.leaveOut(
      path,
      `isolation by row: with rows that its caller may use it gets ${nameOf(shown)}`,
    )
}

/** A row that goes with those that the request names is excluded: the response does not hold it. */
const checkLedTo = async (
  world: World,
  naming: NamingRequest,
  subject: Subject,
  { caller, reach }: Limited,
  listener: ListenerClient,
): Promise<void> => {
  const { probe, a } = world
  const { method, named, make } = naming
  const rows = await rowsFor(world, naming, a)
  if (typeof rows === 'string') return
  const hidden =
    (await rowAbove(world, subject, naming, rows, listener)) ?? (await rowBelow(world, subject, named, rows))
  if (hidden === undefined) return
  exclude(reach, subject, hidden.key)
  const outcome = await probe.send(listener, method.desc, make(rows.map(({ key }) => key)), caller)
  if (outcome?.code !== CODES.OK) return
  if (holds(outcome, hidden, a.text))
    probe.findings.add(
      'isolation',
      method.path,
      `its response holds a ${subject.message.name} that a decision by row excludes`,
      listener.name,
    )
  const returned = { desc: method.desc, response: outcome.response }
  await checkReturned(world, listener, returned, { caller, owner: a })
}

const exclude = (reach: Limited['reach'], subject: Subject, key: string): void => {
  reach.types = typesOf(subject)
  reach.where = filter`NOT ${oneOf(subject, [key])}`
}

/** Whether a text of the row came back, which no other row has. */
const holds = ({ response, message: said }: Outcome, { message }: Row, made: string): boolean => {
  const all = [said, ...textsIn(response, '')].join('\n')
  return [...textsIn(message, made)].some((text) => new RegExp(`${text}(?!\\d)`).test(all))
}

/** What one of the rows is in, or refers to. */
const rowAbove = async (
  { probe, a, subjects }: World,
  subject: Subject,
  { named }: NamingRequest,
  rows: readonly Row[],
  listener: ListenerClient,
): Promise<Row | undefined> => {
  const get = subject.of('get')
  if (get === undefined) return undefined
  const keys = rows.flatMap(({ key, message }, at) => {
    const below = named[at] as Subject
    if (below.name?.parent !== undefined && below.name.parent.text === subject.name?.pattern)
      return [key.split('/').slice(0, below.name.parent.text.split('/').length).join('/')]
    return below.references.flatMap(({ field, target }) => {
      const value = (message as Local)[field.localName]
      if (target !== subject.entity || typeof value !== 'string' || value === '') return []
      return [subject.name === undefined ? value : newKey(subject).replace(/[^/]*$/, () => value)]
    })
  })
  const isNamed = rows.some(({ key }, at) => named[at] === subject && keys.includes(key))
  const [key] = keys
  if (key === undefined || isNamed || !subjects.includes(subject)) return undefined
  const outcome = await probe.send(listener, get.desc, requestFor(subject, get, { key }), a)
  return outcome?.response === undefined ? undefined : { key, message: outcome.response }
}

/** A new row in one of the rows, or one that refers to it. */
const rowBelow = async (
  world: World,
  subject: Subject,
  named: readonly Subject[],
  rows: readonly Row[],
): Promise<Row | undefined> => {
  const { a } = world
  for (const [at, above] of named.entries()) {
    const { key = '' } = rows[at] ?? {}
    const isIn = subject.name?.parent !== undefined && subject.name.parent.text === above.name?.pattern
    const refers = subject.references.some(({ target, isInName }) => target === above.entity && !isInName)
    if (!isIn && !refers) continue
    if (above.entity !== undefined) a.targets.set(above.entity, above.name?.parse(key)?.at(-1) ?? key)
    const asked = isIn ? newKey(subject).replace(subject.sharedParent ?? '', () => key) : undefined
    const row = await sendRow(world, subject, a, asked)
    if (typeof row !== 'string') return row
  }
  return undefined
}
