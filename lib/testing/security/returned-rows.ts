import {
  type DescField,
  type DescMessage,
  type DescMethod,
  isFieldSet,
  type Message,
} from '@bufbuild/protobuf'
import { CODES } from '../../errors.js'
import type { ListenerClient } from './wire/listener-clients.js'
import type { Caller } from './world/probe.js'
import { keyOf, requestFor } from './world/requests.js'
import { getField } from '../../resource/messages/local-field.js'
import type { Subject } from './world/subjects.js'
import type { World } from './world/world.js'

/** The maximum number of rows of one response that are read again. */
const MAX = 20

/** A call's response. */
export interface Returning {
  readonly desc: DescMethod
  readonly response: Message | undefined
}

/**
 * Checks that every resource in a response is one that a Get returns to the same caller.
 * @param owner - a caller who may get it. A resource that no Get returns no longer exists.
 */
export const checkReturned = async (
  world: World,
  listener: ListenerClient,
  { desc, response }: Returning,
  { caller, owner }: { readonly caller: Caller; readonly owner: Caller },
): Promise<void> => {
  const { probe } = world
  for (const { subject, key } of rowsIn(world, response, desc.output).slice(0, MAX)) {
    const get = subject.of('get')
    if (get === undefined) continue
    const request = requestFor(world.a, subject, get, { key })
    const own = await probe.send(listener, get.desc, request, { ...caller, mustNotSee: undefined })
    if (own === undefined || own.code === CODES.OK) continue
    const owners = await probe.send(listener, get.desc, request, { ...owner, mustNotSee: undefined })
    if (owners?.code === CODES.OK)
      probe.findings.add(
        'isolation',
        `/${desc.parent.typeName}/${desc.name}`,
        `its response contains a ${subject.message.name} that the caller's own ${get.desc.name} does not return`,
        listener.name,
      )
  }
}

interface Returned {
  readonly subject: Subject
  readonly key: string
}

/** Returns the resources in a message at any depth. A message with only its key is a reference. */
const rowsIn = (
  { subjects }: World,
  message: Message | undefined,
  desc: DescMessage,
): readonly Returned[] => {
  const rows = new Map<string, Returned>()
  for (const one of messagesIn(message, desc)) {
    const subject = subjects.find((each) => each.message.typeName === one.desc.typeName)
    if (subject === undefined) continue
    const key = keyOf(subject, one.message)
    const set = one.desc.fields.filter((field) => isFieldSet(one.message, field))
    if (key !== '' && set.length > 1) rows.set(`${one.desc.typeName} ${key}`, { subject, key })
  }
  return [...rows.values()]
}

interface Within {
  readonly message: Message
  readonly desc: DescMessage
}

function* messagesIn(message: Message | undefined, desc: DescMessage): Iterable<Within> {
  if (message === undefined) return
  yield { message, desc }
  for (const field of desc.fields) {
    if (field.message === undefined || field.message.typeName.startsWith('google.')) continue
    for (const inner of valuesOf(message, field)) yield* messagesIn(inner, field.message)
  }
}

const valuesOf = (message: Message, field: DescField): readonly Message[] => {
  const value = getField(message, field)
  if (field.fieldKind === 'list') return value as readonly Message[]
  if (field.fieldKind === 'map') return Object.values(value as Readonly<Record<string, Message>>)
  return value === undefined ? [] : [value as Message]
}

/** Returns the strings in a message. */
export const textsIn = (message: Message | undefined): ReadonlySet<string> => {
  const texts = new Set<string>()
  const walk = (value: unknown): void => {
    if (typeof value === 'string') texts.add(value)
    else if (Array.isArray(value)) value.forEach(walk)
    else if (typeof value === 'object' && value !== null && !ArrayBuffer.isView(value))
      Object.values(value).forEach(walk)
  }
  walk(message)
  return texts
}
