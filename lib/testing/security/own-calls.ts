import type { Message } from '@bufbuild/protobuf'
import { CODES } from '../../errors.js'
import { nameOf } from './denial.js'
import type { Outcome } from './wire/listener-clients.js'
import { keyOf, requestFor, textIn, withFields } from './world/requests.js'
import { maskableFields, writableFields } from './world/samples.js'
import type { Kind, Subject } from './world/subjects.js'
import { draft, noteTokens, repeatable, type Row, type World } from './world/world.js'

/**
 * Calls every method of a resource as its owner. No response may contain a secret, and only the Create that
 * issued a token may return it.
 */
export const checkSecrecy = async (world: World, subject: Subject, row: Row): Promise<void> => {
  await checkCreate(world, subject)
  const { probe, a } = world
  const { key } = row
  const entity = draft(world, subject, a)
  const fields = writableFields(subject)
  const all = fields.map(({ name }) => name)
  const succeeded = new Set<string>()
  const call = async (kind: Kind, asking: Parameters<typeof requestFor>[3]) => {
    const method = subject.of(kind)
    if (method === undefined) return
    for (const outcome of await probe.sendAll(method.desc, requestFor(a, subject, method, asking), a)) {
      if (outcome.code === CODES.OK) succeeded.add(kind)
      else refused.set(kind, `${nameOf(outcome)}: ${outcome.message}`)
    }
  }
  const refused = new Map<string, string>()
  await call('get', { key })
  await call('list', { fields: { show_deleted: true, page_size: 5 } })
  for (const name of all) await call('update', { key, entity, mask: [name] })
  await call('batchGet', { keys: [key] })
  for (const { name } of subject.secrets) await call('batchUpdate', { keys: [key], entity, mask: [name] })
  await call('batchUpdate', {
    keys: [key],
    entity,
    mask: maskableFields(subject)
      .slice(0, 1)
      .map(({ name }) => name),
  })
  await call('delete', { key })
  await call('undelete', { key })
  await call('batchDelete', { keys: [key] })
  for (const [kind, said] of refused) {
    const method = subject.of(kind as Kind)
    if (method !== undefined && !succeeded.has(kind))
      probe.findings.add('unchecked', method.path, `its own tenant gets ${said}`)
  }
}

const checkCreate = async (world: World, subject: Subject): Promise<void> => {
  const { probe, a } = world
  const method = subject.of('create')
  if (method === undefined) return
  const ask = (entity: Message, fields = {}): Message =>
    requestFor(world.a, subject, method, { entity, fields })
  for (const listener of probe.listeners) {
    const send = (request: Message, extra = {}): Promise<Outcome | undefined> =>
      probe.send(listener, method.desc, request, a, { extra, shows: true })
    const extra = repeatable()
    const request = ask(draft(world, subject, a))
    const first = await send(request, extra)
    if (first === undefined || first.code !== CODES.OK) continue
    const tokens = noteTokens(world, subject, first)
    for (const field of subject.secrets)
      if (textIn(first.response, field) !== '')
        probe.findings.add('secret', method.path, `${field.name} is in the response`, listener.name)
    const again = await send(request, extra)
    const isReplayed = keyOf(subject, again?.response) === keyOf(subject, first.response)
    if (again !== undefined && isReplayed && tokens.some((token) => again.said.includes(token)))
      probe.findings.add('secret', method.path, 'a replayed Create shows the token again', listener.name)
    else if (again !== undefined) noteTokens(world, subject, again)
    if (Object.keys(withFields(method.desc.input, { validate_only: true })).length === 0) continue
    const validated = await send(ask(draft(world, subject, a), { validate_only: true }))
    if (validated !== undefined && noteTokens(world, subject, validated).length > 0)
      probe.findings.add('secret', method.path, 'a Create that only validates shows a token', listener.name)
  }
}
