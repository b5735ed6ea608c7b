import { create, type Message } from '@bufbuild/protobuf'
import { CODES } from '../../errors.js'
import type { ServedMethod } from '../../server/served-methods.js'
import { nameOf } from './denial.js'
import { checkReturned } from './returned-rows.js'
import { judge } from './isolation.js'
import type { ListenerClient, Outcome } from './wire/listener-clients.js'
import { madeUpRequests } from './made-up-requests.js'
import type { Subject } from './world/subjects.js'
import { makeRow, newKey, nextNumber, type Row, type Side, type World } from './world/world.js'

/**
 * Makes the request of one method.
 * @param key - the key of a resource, by the full name of its message; its name where it has one, such as
 * `shelves/s1/books/b1`. The check calls the function several times: it gives keys of the caller's own
 * resources, of another tenant's, and of none.
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

/** A method of the application, and how its requests are made. */
export interface OwnRequest {
  readonly method: ServedMethod
  /** Where several resources may be meant, the first one with which the call does its work is the one. */
  readonly factories: readonly RequestFactory[]
  /** By the options, and not made up. */
  readonly isGiven: boolean
}

/** Of the methods that are no standard methods, those that name resources. */
export const ownRequestsOf = (
  methods: readonly ServedMethod[],
  subjects: readonly Subject[],
  requests: Requests,
  isLeftOut: (path: string) => boolean,
): readonly OwnRequest[] =>
  methods.flatMap((method): OwnRequest[] => {
    const { path, desc, standard } = method
    const given = requests[path]
    if (given !== undefined) return [{ method, factories: [given], isGiven: true }]
    if (standard !== undefined || desc.methodKind !== 'unary' || isLeftOut(path)) return []
    if (/^\/(grpc|google)\./.test(path)) return []
    const factories = madeUpRequests(method, subjects, 'check')
    return factories.length === 0 ? [] : [{ method, factories, isGiven: false }]
  })

/** A request with the keys of resources in it. */
export interface NamingRequest {
  readonly method: ServedMethod
  /** The resources that it names, in the order in which they are asked for. */
  readonly named: readonly Subject[]
  readonly make: (keys: readonly string[]) => Message
}

const namingRequest = (
  method: ServedMethod,
  factory: RequestFactory,
  subjects: readonly Subject[],
): NamingRequest => {
  const { desc, path } = method
  const named: Subject[] = []
  const make = (keys: readonly string[]): Message => {
    let index = 0
    const made = factory((message) => {
      named[index] ??= subjectOf(subjects, message, path)
      return keys[index++] ?? ''
    }, nextNumber())
    return create(desc.input, made as Record<string, unknown>)
  }
  make([])
  return { method, named, make }
}

/** One resource of a tenant for each that the request names; a text says why one cannot be made. */
export const rowsFor = async (
  world: World,
  { named }: NamingRequest,
  side: Side,
): Promise<readonly Row[] | string> => {
  const rows: Row[] = []
  for (const subject of named) {
    const row = await makeRow(world, subject, side)
    if (typeof row === 'string') return row
    rows.push(row)
  }
  return rows
}

/**
 * What a caller sees of a call does not depend on another tenant's resources that its request names, and
 * holds none of them.
 * @returns the requests with which a caller's own resources do their work.
 */
export const checkOwnRequests = async (
  world: World,
  own: readonly OwnRequest[],
): Promise<readonly NamingRequest[]> => {
  const done: NamingRequest[] = []
  for (const one of own) {
    const naming = await checkOwnRequest(world, one)
    if (naming !== undefined) done.push(naming)
  }
  return done
}

const checkOwnRequest = async (
  world: World,
  { method, factories, isGiven }: OwnRequest,
): Promise<NamingRequest | undefined> => {
  const { path } = method
  const { findings, listeners } = world.probe
  const notChecked = (outcome: Outcome, listener: ListenerClient) =>
    isGiven
      ? findings.add(
          'unchecked',
          path,
          `its own tenant gets ${nameOf(outcome)}: ${outcome.message}: change its function in \`requests\``,
          listener.name,
        )
      : findings.leaveOut(
          path,
          `its own tenant gets ${nameOf(outcome)} for the request that was made up: give \`requests\` of ${path}`,
        )
  const all = factories.map((factory) => namingRequest(method, factory, world.subjects))
  const fitting = all.length === 1 ? all[0] : await firstThatWorks(world, all)
  const naming = fitting ?? all[0]
  if (naming === undefined) return undefined
  let isDone = true
  for (const listener of listeners) {
    const [own, theirs] = [await rowsFor(world, naming, world.b), await rowsFor(world, naming, world.a)]
    if (typeof own === 'string' || typeof theirs === 'string') {
      const why = [own, theirs].find((one) => typeof one === 'string') ?? ''
      if (isGiven) findings.add('unchecked', path, why)
      else findings.leaveOut(path, why)
      return undefined
    }
    await checkForeign(world, naming, { own, theirs }, listener)
    const outcome = await send(world, naming, own, listener)
    if (outcome === undefined) continue
    const returned = { desc: method.desc, response: outcome.response }
    await checkReturned(world, listener, returned, { caller: world.b, owner: world.a })
    if (REACHED.has(outcome.code)) continue
    isDone = false
    notChecked(outcome, listener)
  }
  return isDone ? naming : undefined
}

/** Another tenant's resources, one at a time in the place of the own ones. */
const checkForeign = async (
  world: World,
  { method, named, make }: NamingRequest,
  { own, theirs }: { readonly own: readonly Row[]; readonly theirs: readonly Row[] },
  listener: ListenerClient,
): Promise<void> => {
  const { path, desc } = method
  for (const [index, subject] of named.entries()) {
    if (!subject.isTenants) continue
    const keys = [theirs[index]?.key ?? '', newKey(subject)]
    const [foreign, missing] = keys.map((key) => make(keysWith(own, index, key))) as [Message, Message]
    await judge(world, listener, { path, desc, isStandard: false, foreign, missing, keys: withIds(keys) })
  }
}

/** The keys of the rows, with another one at a place. */
export const keysWith = (rows: readonly Row[], index: number, key: string): readonly string[] =>
  rows.map((row, at) => (at === index ? key : row.key))

/** Keys, and then the last parts of those that are names: an error may say either. */
export const withIds = (keys: readonly string[]): readonly string[] => [
  ...keys,
  ...keys.filter((key) => key.includes('/')).map((key) => key.slice(key.lastIndexOf('/') + 1)),
]

const firstThatWorks = async (
  world: World,
  all: readonly NamingRequest[],
): Promise<NamingRequest | undefined> => {
  const [listener] = world.probe.listeners
  for (const naming of all) {
    const rows = await rowsFor(world, naming, world.b)
    if (listener === undefined || typeof rows === 'string') continue
    const outcome = await send(world, naming, rows, listener)
    if (outcome !== undefined && REACHED.has(outcome.code)) return naming
  }
  return undefined
}

const send = (
  { probe, b }: World,
  { method, make }: NamingRequest,
  rows: readonly Row[],
  listener: ListenerClient,
): Promise<Outcome | undefined> => probe.send(listener, method.desc, make(rows.map(({ key }) => key)), b)

/** With its own resources the call did its work, or refused it for the state that they are in. */
export const REACHED: ReadonlySet<number> = new Set([CODES.OK, CODES.FAILED_PRECONDITION])

const subjectOf = (subjects: readonly Subject[], message: string, path: string): Subject => {
  const subject = subjects.find((one) => one.message.typeName === message)
  if (subject !== undefined) return subject
  const known = subjects.map((one) => one.message.typeName).join(', ')
  throw new TypeError(`requests: ${path} asks for a key of ${message}, and the server has ${known}`)
}
