import { type DescMethod, isFieldSet, type Message } from '@bufbuild/protobuf'
import type { ServedMethod } from '../../server/served-methods.js'
import { getField, setField } from '../../resource/messages/local-field.js'
import { nameOf } from './denial.js'
import { checkReturned } from './returned-rows.js'
import { judge } from './isolation.js'
import type { ListenerClient, Outcome } from './wire/listener-clients.js'
import { madeUpRequests, mayName, plainRequest } from './made-up-requests.js'
import { aNameOf, COMING, type Dependence, dependenceOf, inField, NAMED } from './dependence.js'
import type { VariedRequest } from './effects.js'
import { checkUsed, MAX_PAGES, usedRequest, variedOf } from './own-variants.js'
import { foreignRows, namedRow } from './scenes.js'
import {
  keysWith,
  type NamingRequest,
  namingRequest,
  REACHED,
  type RequestFactory,
  rowsFor,
  withIds,
} from './naming-request.js'
import { nextRequest, sendPages } from './world/send-pages.js'
import { type Location, requestFor } from './world/requests.js'
import type { Subject } from './world/subjects.js'
import { newKey, type Row, type World } from './world/world.js'

/** Request factories by full gRPC method name. */
export type Requests = Readonly<Record<string, RequestFactory>>

/** @throws TypeError for an unknown method name. */
export const checkRequests = (methods: readonly ServedMethod[], requests: Requests): void => {
  for (const name of Object.keys(requests))
    if (!methods.some(({ path, desc }) => path === name && desc.methodKind === 'unary'))
      throw new TypeError(
        `requests: ${name} is not a unary method of the server, such as /package.Service/Method`,
      )
}

/** A custom method and the factories of its requests. */
export interface OwnRequest {
  readonly method: ServedMethod
  /** If several resources are possible, the first factory whose call succeeds is used. */
  readonly factories: readonly RequestFactory[]
  /** True if the options contain the request, so that it is not generated. */
  readonly isGiven: boolean
  /** True if the request contains no key of a resource, as far as the check knows. */
  readonly isPlain: boolean
}

/**
 * Returns the methods that are not standard methods, with factories of requests that name resources if
 * possible.
 */
export const ownRequestsOf = (
  methods: readonly ServedMethod[],
  { subjects, b }: World,
  requests: Requests,
  isLeftOut: (path: string) => boolean,
): readonly OwnRequest[] =>
  methods.flatMap((method): OwnRequest[] => {
    const { path, desc, standard } = method
    const given = requests[path]
    if (given !== undefined) return [{ method, factories: [given], isGiven: true, isPlain: false }]
    if (desc.methodKind !== 'unary' || isLeftOut(path)) return []
    if (standard !== undefined) {
      const read = readRequest(method, subjects, b)
      return read === undefined ? [] : [{ method, factories: [read], isGiven: false, isPlain: true }]
    }
    if (/^\/(grpc|google)\./.test(path)) return []
    const factories = madeUpRequests(method, subjects, 'check')
    const isPlain = factories.length === 0
    return [
      { method, factories: isPlain ? [plainRequest(method, 'check')] : factories, isGiven: false, isPlain },
    ]
  })

/**
 * Returns the request of a standard method that returns more than the named rows: an application function
 * replaces it, or it counts rows.
 */
const readRequest = (
  method: ServedMethod,
  subjects: readonly Subject[],
  location: Location,
): RequestFactory | undefined => {
  const { standard, isOwn } = method
  const subject = subjects.find(({ methods }) => methods.some(({ path }) => path === method.path))
  if (subject === undefined || standard === undefined) return undefined
  const counts = standard.kind === 'list' && standard.total !== undefined
  if (!(isOwn && READS.has(standard.kind)) && !counts) return undefined
  return (key) =>
    requestFor(
      location,
      subject,
      { ...method, standard },
      standard.kind === 'list' ? {} : { key: key(subject.message.typeName) },
    )
}

const READS: ReadonlySet<string> = new Set(['get', 'batchGet', 'list'])

/** A request that succeeds with the caller's own resources. */
export interface DoneRequest {
  readonly naming: NamingRequest
  /** The request, repeated with each value of its booleans and enums. */
  readonly varied: readonly VariedRequest[]
}

/**
 * Checks that a caller's response does not depend on another tenant's resources that its request names, and
 * does not contain them. It is checked for each value of booleans and enums, also after the owner has called
 * the method.
 */
export const checkOwnRequests = async (
  world: World,
  own: readonly OwnRequest[],
): Promise<readonly DoneRequest[]> => {
  const done: DoneRequest[] = []
  for (const one of own) {
    const naming = await checkOwnRequest(world, one)
    if (naming !== undefined) done.push({ naming, varied: await checkVariants(world, one, naming) })
  }
  return done
}

const checkVariants = async (
  world: World,
  { method, isPlain }: OwnRequest,
  naming: NamingRequest,
): Promise<readonly VariedRequest[]> => {
  const { path, desc, standard, isOwn } = method
  const { findings, listeners } = world.probe
  const [listener] = listeners
  if (listener === undefined) return []
  if (standard !== undefined && !isOwn) {
    await checkOthersRows(world, naming)
    return []
  }
  const { all, untried } = variedOf(world, naming)
  const reasons = [...untried]
  const varied: VariedRequest[] = []
  for (const one of all) {
    const outcome = one.variant === '' ? undefined : await checkVariant(world, one.naming, listener)
    if (outcome === undefined || REACHED.has(outcome.code)) {
      await checkOthersRows(world, one.naming)
      if (!findings.has('isolation', path)) await checkUsed(world, one, listener)
    } else if (one.isOfItsOwn)
      reasons.push(`${one.variant}, with which its own tenant gets ${nameOf(outcome)}`)
    varied.push(await usedRequest(world, one))
  }
  if (reasons.length > 0 && !(isPlain && mayName(desc.input)))
    findings.leaveOut(path, `not tried: ${reasons.join('; ')}`)
  return varied
}

/** @returns the result of the call with the caller's own resources. */
const checkVariant = async (
  world: World,
  naming: NamingRequest,
  listener: ListenerClient,
): Promise<Outcome | undefined> => {
  const [own, theirs] = [await rowsFor(world, naming, world.b), await rowsFor(world, naming, world.a)]
  if (typeof own === 'string' || typeof theirs === 'string') return undefined
  await checkForeign(world, naming, { own, theirs }, listener)
  return sendOwn(world, naming, { own, theirs }, listener)
}

const checkOwnRequest = async (
  world: World,
  { method, factories, isGiven, isPlain }: OwnRequest,
): Promise<NamingRequest | undefined> => {
  const { path } = method
  const { findings, listeners } = world.probe
  const notChecked = (outcome: Outcome, listener: ListenerClient) => {
    if (isGiven)
      findings.add(
        'unchecked',
        path,
        `its own tenant gets ${nameOf(outcome)}: ${outcome.message}: change its function in \`requests\``,
        listener.name,
      )
    // If a string may be an unknown key, another reason is reported.
    else if (!isPlain || !mayName(method.desc.input))
      findings.leaveOut(
        path,
        `its own tenant gets ${nameOf(outcome)} for the generated request: give \`requests\` for ${path}`,
      )
  }
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
    const outcome = await sendOwn(world, naming, { own, theirs }, listener)
    if (outcome === undefined) continue
    if (REACHED.has(outcome.code)) continue
    isDone = false
    notChecked(outcome, listener)
  }
  return isDone ? naming : undefined
}

interface BothRows {
  readonly own: readonly Row[]
  readonly theirs: readonly Row[]
}

/** Calls first as the other tenant, so that cached data of its call can be detected. */
const sendOwn = async (
  world: World,
  { method: { desc, path }, make }: NamingRequest,
  { own, theirs }: BothRows,
  listener: ListenerClient,
): Promise<Outcome | undefined> => {
  const { probe, a, b } = world
  const [request, others] = [own, theirs].map((rows) => make(rows.map(({ key }) => key))) as [
    Message,
    Message,
  ]
  takeOver(desc, others, request)
  await sendPages(probe, listener, desc, others, a, MAX_PAGES)
  const { outcomes, isCut } = await sendPages(probe, listener, desc, request, b, MAX_PAGES)
  const first = await probe.send(listener, desc, others, a)
  const next = first && nextRequest(desc, request, first)
  const taken = next && (await probe.send(listener, desc, next, b))
  for (const { response } of [...outcomes, ...(taken === undefined ? [] : [taken])])
    await checkReturned(world, listener, { desc, response }, { caller: b, owner: a })
  if (isCut) probe.findings.leaveOut(path, `not tried: pages after the first ${MAX_PAGES}`)
  return outcomes[0]
}

/** Copies the request id, because two callers may choose the same one. */
const takeOver = ({ input }: DescMethod, from: Message, to: Message): void => {
  const field = input.fields.find(({ name }) => name === 'request_id')
  if (field !== undefined && isFieldSet(from, field)) setField(to, field, getField(from, field))
}

/** Sends requests in which one of the caller's resources is replaced by another tenant's. */
const checkForeign = async (
  world: World,
  naming: NamingRequest,
  { own, theirs }: BothRows,
  listener: ListenerClient,
): Promise<void> => {
  const { method, named, make } = naming
  const { path, desc } = method
  for (const [index, subject] of named.entries()) {
    if (!subject.isTenants) continue
    const keys = [theirs[index]?.key ?? '', newKey(subject, world.a)]
    const [foreign, missing] = keys.map((key) => make(keysWith(own, index, key))) as [Message, Message]
    const reach = { path, desc, isStandard: false, foreign, missing, keys: withIds(keys) }
    if (!(await judge(world, listener, reach)) || listener !== world.probe.listeners[0]) continue
    const at = { index, caller: world.b, owner: world.a }
    const begin = () => namedRow(world, naming, at)
    sayDependence(
      world,
      naming,
      await dependenceOf(world, { ...NAMED, method, caller: world.b, subjects: [subject], begin }),
    )
  }
}

/** Checks that a response does not depend on the rows of another tenant. */
const checkOthersRows = async (world: World, naming: NamingRequest): Promise<void> => {
  const subjects = world.subjects.filter(({ isTenants, repository }) => isTenants && repository !== undefined)
  const begin = (some: readonly Subject[]) => foreignRows(world, naming, some)
  const { method } = naming
  sayDependence(
    world,
    naming,
    await dependenceOf(world, { ...COMING, method, caller: world.b, subjects, begin }),
  )
}

const sayDependence = (
  { probe }: World,
  { method }: NamingRequest,
  dependences: readonly Dependence[],
): void => {
  for (const { subjects, path } of dependences)
    probe.findings.add(
      'isolation',
      method.path,
      `what it returns${inField(path)} depends on ${aNameOf(subjects)} of another tenant`,
      probe.listeners[0]?.name,
    )
}

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
