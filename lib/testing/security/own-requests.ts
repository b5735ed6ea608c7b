import { create, type Message } from '@bufbuild/protobuf'
import { CODES } from '../../errors.js'
import type { ServedMethod } from '../../server/served-methods.js'
import { nameOf } from './denial.js'
import { judge } from './isolation.js'
import type { Subject } from './subjects.js'
import { makeRow, newKey, nextNumber, type Side, type World } from './world.js'

/**
 * Makes the request of one method.
 * @param key - the key of a resource, by the full name of its message; its name where it has one, such as `shelves/s1/books/b1`. The check calls the function several times: it gives keys
 * of the caller's own resources, of another tenant's, and of none.
 * @param n - differs each time.
 */
export type RequestFactory = (key: (message: string) => string, n: number) => object

/** By gRPC full method name. */
export type Requests = Readonly<Record<string, RequestFactory>>

/** @throws TypeError for a name that no method has. */
export const checkRequests = (methods: readonly ServedMethod[], requests: Requests): void => {
  for (const name of Object.keys(requests))
    if (!methods.some(({ path, desc }) => path === name && desc.methodKind === 'unary'))
      throw new TypeError(`requests: ${name} is no unary method of the server, as in /package.Service/Method`)
}

/** What a caller sees of a call does not depend on another tenant's resources that its request names. */
export const checkOwnRequests = async (
  world: World,
  methods: readonly ServedMethod[],
  subjects: readonly Subject[],
  requests: Requests,
): Promise<void> => {
  for (const method of methods) {
    const factory = requests[method.path]
    if (factory !== undefined) await checkOwnRequest(world, method, subjects, factory)
  }
}

const checkOwnRequest = async (
  world: World,
  { desc, path }: ServedMethod,
  subjects: readonly Subject[],
  factory: RequestFactory,
): Promise<void> => {
  const { probe, a, b } = world
  const named: Subject[] = []
  const make = (keyAt: (index: number) => string): Message => {
    let index = 0
    const made = factory((message) => {
      named[index] ??= subjectOf(subjects, message, path)
      return keyAt(index++)
    }, nextNumber())
    return create(desc.input, made as Record<string, unknown>)
  }
  make(() => '')
  const keysOf = async (side: Side): Promise<readonly string[] | string> => {
    const keys: string[] = []
    for (const subject of named) {
      const row = await makeRow(world, subject, side)
      if (typeof row === 'string') return row
      keys.push(row.key)
    }
    return keys
  }
  for (const listener of probe.listeners) {
    const [own, theirs] = [await keysOf(b), await keysOf(a)]
    if (typeof own === 'string' || typeof theirs === 'string')
      return probe.findings.add('unchecked', path, [own, theirs].find((one) => typeof one === 'string') ?? '')
    for (const [index, subject] of named.entries()) {
      if (!subject.isTenants) continue
      const none = newKey(subject)
      const [foreign, missing] = [theirs[index] ?? '', none].map((key) =>
        make((at) => (at === index ? key : (own[at] ?? ''))),
      ) as [Message, Message]
      const keys = [theirs[index] ?? '', none]
      await judge(world, listener, { path, desc, isStandard: false, foreign, missing, keys })
    }
    const outcome = await probe.send(
      listener,
      desc,
      make((at) => own[at] ?? ''),
      b,
    )
    if (outcome !== undefined && !REACHED.has(outcome.code))
      probe.findings.add(
        'unchecked',
        path,
        `its own tenant gets ${nameOf(outcome)}: ${outcome.message}: change its function in \`requests\``,
        listener.name,
      )
  }
}

/** With its own resources the call did its work, or refused it for the state that they are in. */
const REACHED: ReadonlySet<number> = new Set([CODES.OK, CODES.FAILED_PRECONDITION])

const subjectOf = (subjects: readonly Subject[], message: string, path: string): Subject => {
  const subject = subjects.find((one) => one.message.typeName === message)
  if (subject !== undefined) return subject
  const known = subjects.map((one) => one.message.typeName).join(', ')
  throw new TypeError(`requests: ${path} asks for a key of ${message}, and the server has ${known}`)
}
