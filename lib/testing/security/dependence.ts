import type { Message } from '@bufbuild/protobuf'
import { CODES } from '../../errors.js'
import type { ServedMethod } from '../../server/served-methods.js'
import { type ResponseValues, responseValuesOf } from './responses/response-values.js'
import { dependsOn, type Seen, type State } from './responses/depends-on.js'
import { sendPages } from './world/send-pages.js'
import type { Caller } from './world/probe.js'
import type { Subject } from './world/subjects.js'
import type { Row, World } from './world/world.js'
import type { Outcome } from './wire/listener-clients.js'

/** Rows that a caller may not reach, and a request that may lead to them. */
export interface Scene {
  /** Brings the rows to the state. False where that cannot be done. */
  to(state: State): Promise<boolean>
  /** The request in the state. */
  readonly request: Message
  /** The existing rows. */
  readonly hidden: ReadonlyMap<Subject, Row>
  /** The rows of the request that its caller may reach. */
  readonly shown: readonly Row[]
  /** Texts of the request, which say nothing in a response. */
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
  /** The states of a first look, and those that have to show the same again. */
  readonly states: readonly State[]
  readonly again: readonly State[]
  /** Sees what the call returns while the rows are there. */
  readonly look?: (outcome: Outcome, scene: Pick<Scene, 'hidden' | 'shown'>) => Promise<void>
}

/** With a row, without it, and with other values in it. */
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

/** Of rows that others need. */
export const CHANGING: Pick<Staging, 'states' | 'again'> = {
  states: ['first', 'first', 'other', 'first'],
  again: ['first', 'first', 'other', 'other', 'first', 'first', 'other', 'other'],
}

/** Of rows that the request names. */
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

/** A value of a response, and the resources of which rows it depends on. */
export interface Dependence {
  readonly subjects: readonly Subject[]
  readonly path: string
}

/**
 * Calls a method again and again while rows come, change and go that its caller may not reach. What it
 * returns has to stay the same: not only their values, also a sum, a count or a text that is made of them
 * would tell of them.
 */
export const dependenceOf = async (world: World, staging: Staging): Promise<readonly Dependence[]> => {
  const { subjects, states, again } = staging
  const first = await seenIn(world, staging, subjects, states)
  // A function that does not support decisions by row runs where its rule is about another resource.
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

/** Why nothing was seen: no support for decisions by row, or a call or a row that is refused. */
type Unseen = 'unsupported' | 'none'

const seenIn = async (
  world: World,
  staging: Staging,
  subjects: readonly Subject[],
  states: readonly State[],
): Promise<readonly Seen[] | Unseen> => {
  const seen = await oneScene(world, staging, subjects, states)
  // A call that works once for a row works for other rows.
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
  try {
    for (const state of states) {
      if (state !== is && !(await scene.to(state))) return seen.length < 3 ? 'none' : seen
      is = state
      const outcomes = await call(world, staging, scene, state)
      const [outcome] = outcomes
      if (outcome === undefined) return 'none'
      if (seen.length === 0 && outcome.code === CODES.INTERNAL) return 'unsupported'
      if (seen.length === 0 && outcome.code !== CODES.OK) return 'none'
      if (seen.length === 1 && outcome.code !== CODES.OK) return 'once'
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
      if (outcomes[0]?.code !== CODES.OK) return 'none'
      seen.push({ state, response: read(world, outcomes, scene) })
    } finally {
      await scene.end()
    }
  }
  return seen
}

/** Numbers that the database makes for all tenants tell each how many rows there are: that is known. */
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

/** The maximum number of pages that one of many calls follows. */
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

/** A position in a response, in the text of a finding. */
export const inField = (path: string): string => {
  const name = path.replace(/^(page \d+ )?\.?/, '').replace(/ #\d+$/, '')
  return name === '' || name === 'code' || name === 'message' ? '' : ` in ${name}`
}

/** The resources in the text of a finding. */
export const aNameOf = (subjects: readonly Subject[]): string =>
  `a ${subjects.map(({ message }) => message.name).join(' or a ')}`
