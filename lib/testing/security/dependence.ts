import type { Message } from '@bufbuild/protobuf'
import { CODES } from '../../errors.js'
import type { ServedMethod } from '../../server/served-methods.js'
import { type ResponseValues, responseValuesOf } from './responses/response-values.js'
import { dependsOn, type Seen, type State } from './responses/depends-on.js'
import { REACHED } from './naming-request.js'
import { sendPages } from './world/send-pages.js'
import type { Caller } from './world/probe.js'
import type { Subject } from './world/subjects.js'
import type { Row, World } from './world/world.js'
import type { Outcome } from './wire/listener-clients.js'

/** Rows that a caller may not access, and a request that may depend on them. */
export interface Scene {
  /** Puts the rows into a state. Resolves to false if that is not possible. */
  to(state: State): Promise<boolean>
  /** The request for the current state. */
  readonly request: Message
  /** The hidden rows that exist. */
  readonly hidden: ReadonlyMap<Subject, Row>
  /** The rows of the request that its caller may access. */
  readonly shown: readonly Row[]
  /** Strings of the request, which reveal nothing in a response, with their placeholders. */
  readonly spoken: ReadonlyMap<string, string>
  /** Removes the rows. */
  end(): Promise<void>
}

/** Creates scenes from rows of some resources. */
export interface Staging {
  readonly method: ServedMethod
  readonly caller: Caller
  readonly subjects: readonly Subject[]
  readonly begin: (subjects: readonly Subject[]) => Promise<Scene | undefined>
  /** The states of a first pass, and of a second pass that must confirm a difference. */
  readonly states: readonly State[]
  readonly again: readonly State[]
  /** Called with the result of the call while the hidden rows exist. */
  readonly look?: (outcome: Outcome, scene: Pick<Scene, 'hidden' | 'shown'>) => Promise<void>
}

/** The states for rows that can be created and removed. */
export const COMING: Pick<Staging, 'states' | 'again'> = {
  states: ['absent', 'absent', 'first', 'other', 'absent'],
  again: [
    ...([
      'absent',
      'absent',
      'first',
      'first',
      'other',
      'other',
      'first',
      'first',
      'other',
      'other',
    ] as const),
    ...(['absent', 'absent', 'first', 'first', 'absent', 'absent'] as const),
  ],
}

/** The states for rows that cannot be removed, because other rows need them. */
export const CHANGING: Pick<Staging, 'states' | 'again'> = {
  states: ['first', 'first', 'other', 'first'],
  again: ['first', 'first', 'other', 'other', 'first', 'first', 'other', 'other'],
}

/** The states for rows that the request names. */
export const NAMED: Pick<Staging, 'states' | 'again'> = {
  states: ['first', 'first', 'other', 'absent', 'absent'],
  again: [
    'first',
    'first',
    'other',
    'other',
    'first',
    'first',
    'absent',
    'absent',
    'first',
    'first',
    'absent',
  ],
}

/** A value of a response and the resources on whose rows it depends. */
export interface Dependence {
  readonly subjects: readonly Subject[]
  readonly path: string
}

/**
 * Calls a method repeatedly while rows that its caller may not access are created, changed and removed. The
 * response must stay the same. A sum, a count or a string derived from the rows would reveal them as well.
 */
export const dependenceOf = async (world: World, staging: Staging): Promise<readonly Dependence[]> => {
  const { subjects, states, again } = staging
  const first = await seenIn(world, staging, subjects, states)
  // A function that does not support row-level decisions still runs if its rule names another resource.
  if (first === 'unsupported' && subjects.length > 1) return eachOf(world, staging)
  if (typeof first === 'string' || dependsOn(first).length === 0) return []
  const second = await seenIn(world, staging, subjects, again)
  const [path] = typeof second === 'string' ? [] : dependsOn(second)
  if (path === undefined) return []
  const found: Dependence[] = []
  for (const one of subjects.length > 1 ? subjects : []) {
    const seen = await seenIn(world, staging, [one], states)
    if (typeof seen !== 'string' && dependsOn(seen).includes(path)) found.push({ subjects: [one], path })
  }
  return found.length > 0 ? found : [{ subjects, path }]
}

const eachOf = async (world: World, staging: Staging): Promise<readonly Dependence[]> => {
  const found: Dependence[] = []
  for (const subject of staging.subjects)
    found.push(...(await dependenceOf(world, { ...staging, subjects: [subject] })))
  return found
}

/**
 * The reason why there is no result: row-level decisions are not supported, or a call or a row was rejected.
 */
type Unseen = 'unsupported' | 'none'

const seenIn = async (
  world: World,
  staging: Staging,
  subjects: readonly Subject[],
  states: readonly State[],
): Promise<readonly Seen[] | Unseen> => {
  const seen = await oneScene(world, staging, subjects, states)
  // The call works only once for a row, so each state uses a new one.
  return seen === 'once' ? sceneEach(world, staging, subjects, states) : seen
}

const oneScene = async (
  world: World,
  staging: Staging,
  subjects: readonly Subject[],
  states: readonly State[],
): Promise<readonly Seen[] | Unseen | 'once'> => {
  const scene = await staging.begin(subjects)
  if (scene === undefined) return 'none'
  const seen: Seen[] = []
  let is: State | undefined
  let firstCode: number | undefined
  try {
    for (const state of states) {
      if (state !== is && !(await scene.to(state))) return seen.length < 3 ? 'none' : seen
      is = state
      const outcomes = await call(world, staging, scene, state)
      const [outcome] = outcomes
      if (outcome === undefined) return 'none'
      if (seen.length === 0 && outcome.code === CODES.INTERNAL) return 'unsupported'
      if (seen.length === 0 && !REACHED.has(outcome.code)) return 'none'
      firstCode ??= outcome.code
      if (seen.length === 1 && outcome.code !== firstCode) return 'once'
      seen.push({ state, response: read(world, outcomes, scene) })
    }
    return seen
  } finally {
    await scene.end()
  }
}

const sceneEach = async (
  world: World,
  staging: Staging,
  subjects: readonly Subject[],
  states: readonly State[],
): Promise<readonly Seen[] | Unseen> => {
  const seen: Seen[] = []
  for (const state of states) {
    const scene = await staging.begin(subjects)
    if (scene === undefined) return 'none'
    try {
      if (!(await scene.to(state))) return 'none'
      const outcomes = await call(world, staging, scene, state)
      if (!REACHED.has(outcomes[0]?.code ?? CODES.UNKNOWN)) return 'none'
      seen.push({ state, response: read(world, outcomes, scene) })
    } finally {
      await scene.end()
    }
  }
  return seen
}

/**
 * Reads the responses. Numbers that the database generates for all tenants reveal the number of rows to each
 * tenant, which is accepted.
 */
export const read = (
  { subjects }: World,
  outcomes: readonly Outcome[],
  { spoken }: Pick<Scene, 'spoken'>,
): ResponseValues => {
  const generated = subjects.filter(({ isIdentity }) => isIdentity)
  const counted = new Set(generated.map(({ message, key }) => `${message.typeName}.${key.localName}`))
  return new Map(
    outcomes.flatMap((outcome, page) =>
      [...responseValuesOf(outcome, spoken, counted)].map(
        ([path, value]) => [page === 0 ? path : `page ${page + 1} ${path}`, value] as const,
      ),
    ),
  )
}

/** The maximum number of pages read per call when there are many calls. */
const MAX_PAGES = 20

const call = async (
  { probe }: World,
  { method, caller, look }: Staging,
  scene: Scene,
  state: State,
): Promise<readonly Outcome[]> => {
  const [listener] = probe.listeners
  if (listener === undefined) return []
  const { outcomes } = await sendPages(probe, listener, method.desc, scene.request, caller, MAX_PAGES)
  if (state === 'first') for (const outcome of outcomes) await look?.(outcome, scene)
  return outcomes
}

/** Returns the position in a response for the text of a finding. */
export const inField = (path: string): string => {
  const name = path.replace(/^(page \d+ )?\.?/, '').replace(/ #\d+$/, '')
  return name === '' || name === 'code' || name === 'message' ? '' : ` in ${name}`
}

/** Returns the names of the resources for the text of a finding. */
export const aNameOf = (subjects: readonly Subject[]): string =>
  `a ${subjects.map(({ message }) => message.name).join(' or a ')}`
