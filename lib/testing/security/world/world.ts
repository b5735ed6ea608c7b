import type { Message } from '@bufbuild/protobuf'
import { RequestContext } from '../../../context.js'
import { AshlarError, ErrConflict } from '../../../errors.js'
import { keyPartOf } from '../../../resource/keys/key-part.js'
import type { NamePattern } from '../../../persistence/index.js'
import { Canaries, newCanary } from '../leaks/canary.js'
import type { Headers, Outcome } from '../wire/listener-clients.js'
import type { Caller, Probe } from './probe.js'
import { isChosen, parentText } from './made-up-keys.js'
import { heldKey, keyOf, type Location, parentAt, requestFor, textIn } from './requests.js'
import { type Making, sampleOf, type Samples, samplesAdvice } from './samples.js'
import type { Prepare } from './prepare.js'
import type { Subject } from './subjects.js'

/** A tenant of the check, with a caller who may do everything in it. */
export interface Side extends Caller, Location {
  readonly tenant: string
  /** The prefix of the tenant's strings. */
  readonly text: string
  /** The keys of referenced resources, by entity. */
  readonly targets: Map<object, string>
  readonly parents: Map<object | string, string>
}

/** The two tenants and the state that the check shares. */
export interface World {
  readonly probe: Probe
  readonly a: Side
  readonly b: Side
  readonly samples: Samples
  /** True if the tenants need no rows of their own. */
  readonly areTenantsMadeUp: boolean
  readonly subjects: readonly Subject[]
  /** The value of secret fields. */
  readonly secret: string
  /** The prefix of strings in resources that all tenants share, which every caller may read. */
  readonly sharedText: string
  /** The resource to which each generated string belongs, even if another resource contains a copy. */
  readonly madeUp: Map<string, Subject>
  /** Resources that allow only one row in the shared parent, so that each row gets its own parent. */
  readonly apart: Set<Subject>
  readonly prepare: Prepare
}

/** A resource that was created through the API. */
export interface Row {
  readonly key: string
  readonly message: Message
}

/** Returns the prefix of one tenant's strings, which the other tenant must not receive. */
export const newText = (): { readonly text: string; readonly canaries: Canaries } => {
  const canaries = new Canaries()
  return { text: canaries.plant(newCanary('z')), canaries }
}

let made = 0

/** Returns a number that no other value in this process uses. */
export const nextNumber = (): number => ++made

/** The parameters of a resource's generated values. */
export type Content = Omit<Making, 'secret'>

const newContent = ({ text }: Side): Content => ({ n: nextNumber(), text })

/** Returns a new resource of a tenant that has not been sent yet. */
export const draft = (
  world: World,
  subject: Subject,
  side: Side,
  { n, text: own, isOther = false } = newContent(side),
): Message => {
  const text = subject.isTenants ? own : world.sharedText
  world.madeUp.set(`${text}${n}`, subject)
  return sampleOf(
    subject,
    { n, text, isOther, secret: world.secret },
    world.samples,
    side,
    Object.fromEntries(
      subject.references.flatMap(({ field, target, isInName }) => {
        const key = side.targets.get(target)
        if (isInName || (key === undefined && subject.scope.has(field.name))) return []
        // No resource has the generated key, so the reference stays unset.
        return [[field.localName, key === undefined ? undefined : heldKey(field, key)]]
      }),
    ),
  )
}

/** Returns a key in the resource's format that does not exist, in the parent that the check has created. */
export const newKey = (subject: Subject, location: Location): string => {
  const { name, keyPattern, sharedParent } = subject
  if (name === undefined) return keyPattern.replaceAll(/\*+/g, () => subject.newText('check-'))
  const key = nameWith(name, subject.newText('check-'))
  return inParent(key, sharedParent, parentAt(location, subject))
}

/** Returns the name with another parent. */
const inParent = (name: string, from: string | undefined, to: string | undefined): string =>
  from !== undefined && to !== undefined && name.startsWith(`${from}/`) ? to + name.slice(from.length) : name

const nameWith = ({ segments, variables }: NamePattern, key: string): string => {
  const last = variables.at(-1)
  const fieldOf = (part: string) => variables.find(({ name }) => name === part)?.field
  return segments
    .map(({ kind, text }) =>
      kind === 'literal' ? text : text === last?.name ? key : parentText(fieldOf(text)),
    )
    .join('/')
}

/** Returns the key for a resource that is a parent of others. */
const parentKey = (subject: Subject, location: Location): string | undefined => {
  const { name, isIdentity, repository } = subject
  if (isIdentity) return undefined
  const key = parentText(repository?.model.key)
  return name === undefined
    ? key
    : inParent(nameWith(name, key), subject.sharedParent, parentAt(location, subject))
}

/** Returns the resources sorted so that each follows its parent and its references. */
export const fromAbove = (subjects: readonly Subject[]): readonly Subject[] => {
  const depth = (subject: Subject, below: readonly Subject[] = []): number => {
    if (below.includes(subject)) return 0
    const above = subjects.filter(
      ({ entity, name }) =>
        subject.references.some(({ target }) => target === entity) ||
        (name !== undefined && name.pattern === subject.name?.parent?.text),
    )
    return 1 + Math.max(0, ...above.map((one) => depth(one, [...below, subject])))
  }
  return [...subjects].sort((one, other) => depth(one) - depth(other))
}

/** Creates the parents and references of the check's resources, for both tenants. */
export const makeParents = async (world: World): Promise<void> => {
  const { subjects } = world
  const parents = new Set(subjects.map(({ name }) => name?.parent?.text))
  const targets = new Set(subjects.flatMap(({ references }) => references.map(({ target }) => target)))
  for (const subject of fromAbove(subjects)) {
    const { entity, name } = subject
    const isTarget = entity !== undefined && targets.has(entity)
    if (!isTarget && (name === undefined || !parents.has(name.pattern))) continue
    for (const side of [world.a, world.b]) {
      const row = await makeRow(world, subject, side, parentKey(subject, side))
      if (isTarget) noteTarget(subject, side, row)
      if (typeof row === 'string') continue
      if (name !== undefined) side.parents.set(name.pattern, row.key)
      if (entity !== undefined) side.parents.set(entity, name?.parse(row.key)?.at(-1) ?? row.key)
    }
  }
}

const noteTarget = ({ entity, name }: Subject, { targets }: Side, row: Row | string): void => {
  if (entity !== undefined && typeof row !== 'string')
    targets.set(entity, name?.parse(row.key)?.at(-1) ?? row.key)
}

/**
 * Creates new references for the next row if its path allows it, because equal references may violate a
 * unique rule.
 */
const renewTargets = async (world: World, subject: Subject, side: Side): Promise<void> => {
  for (const { field, target, isInName } of subject.references) {
    const other = world.subjects.find(({ entity }) => entity === target)
    if (other === undefined || other === subject || isInName || subject.scope.has(field.name)) continue
    noteTarget(other, side, await sendRow(world, other, side))
  }
}

/**
 * Creates a resource for a tenant, with Create or otherwise through the repository. Returns a string with the
 * reason if it cannot be created. Create may let the server choose the key or may require one.
 * @param asked - the key; by default a new one.
 */
export const makeRow = async (
  world: World,
  subject: Subject,
  side: Side,
  asked?: string,
): Promise<Row | string> => {
  await renewTargets(world, subject, side)
  const row = await sendRow(world, subject, side, asked)
  if (typeof row !== 'string' || asked !== undefined) return row
  const key = await keyInNewParent(world, subject, side)
  const again = key === undefined ? row : await sendRow(world, subject, side, key)
  if (typeof again === 'string') return row
  world.apart.add(subject)
  return again
}

/**
 * Returns a new name in a new parent; undefined if the resource has no parent, or if it cannot be created.
 */
export const keyInNewParent = async (
  world: World,
  subject: Subject,
  side: Side,
): Promise<string | undefined> => {
  const above = world.subjects.find(
    ({ name }) => name !== undefined && name.pattern === subject.name?.parent?.text,
  )
  const shared = parentAt(side, subject)
  if (shared === undefined || above === undefined) return undefined
  const parent = await makeRow(world, above, side)
  return typeof parent === 'string' ? undefined : newKey(subject, side).replace(shared, () => parent.key)
}

export const sendRow = async (
  world: World,
  subject: Subject,
  side: Side,
  asked?: string,
  content?: Content,
): Promise<Row | string> => {
  await world.prepare(subject.message.typeName, side)
  const create = subject.of('create')
  if (create !== undefined) await world.prepare(create.path, side)
  if (create === undefined) return storeRow(world, subject, side, asked, content)
  let said = ''
  const one = newKey(subject, side)
  const keys = subject.isIdentity ? [one] : subject.keyPattern === '*' ? ['', one] : [one]
  for (const key of asked === undefined ? keys : [asked]) {
    const request = requestFor(side, subject, create, { key, entity: draft(world, subject, side, content) })
    const [listener] = world.probe.listeners
    const outcome =
      listener && (await world.probe.send(listener, create.desc, request, side, { shows: true }))
    if (outcome?.code === 0 && outcome.response !== undefined) {
      noteTokens(world, subject, outcome)
      const own = keyOf(subject, outcome.response)
      if (own !== '') return { key: own, message: outcome.response }
    }
    said = outcome?.message ?? ''
  }
  return `${create.path} rejects the generated request (${said}): ${adviceFor(world, subject)}`
}

/** Returns the advice for a rejected resource. */
const adviceFor = ({ areTenantsMadeUp, samples }: World, subject: Subject): string => {
  const advice = samplesAdvice(subject, samples)
  const held = subject.repository?.model.relations.find(
    (one) => 'reference' in one && one.reference.role === 'tenant',
  )
  return held === undefined || !areTenantsMadeUp
    ? advice
    : `give \`tenants\`, the keys of two rows of ${held.target().name}, or ${advice}`
}

/** Creates a resource in its repository rather than through the API. */
export const storeRow = async (
  world: World,
  subject: Subject,
  side: Side,
  asked: string | undefined,
  content?: Content,
): Promise<Row | string> => {
  const { repository } = subject
  if (repository === undefined)
    return `there is no Create method of ${subject.message.typeName}, and no repository`
  const entity = repository.model.fromMessage(draft(world, subject, side, content))
  const { name } = subject
  asked ??= await keyOfSingleton(world, subject, side)
  const { key } = repository.model
  const chosen = name === undefined && !isChosen(key) ? asked : (asked ?? newKey(subject, side))
  const values = name === undefined ? [chosen] : (name.parse(chosen ?? '') ?? [])
  for (const [at, field] of (name?.variables.map((part) => part.field) ?? [key]).entries()) {
    const text = subject.isIdentity && field.property === key.property ? undefined : values[at]
    if (text !== undefined)
      Object.assign(entity, { [field.property]: keyPartOf(field).valueOf(text) ?? text })
  }
  const stored = await RequestContext.as({ tenant: side.tenant, subject: 'security-check' }, () =>
    repository.create(entity).catch((error: unknown) => {
      // A singleton may exist already if the Create of its parent has created it.
      if (!(error instanceof ErrConflict) || name?.isSingleton !== true) throw error
      return repository.update(Reflect.get(entity, key.property) as string, entity)
    }),
  ).catch((error: unknown) => {
    if (error instanceof AshlarError) return error
    throw error
  })
  if (stored instanceof AshlarError)
    return `the repository of ${subject.message.typeName} rejects the generated resource (${stored.message}): ${adviceFor(world, subject)}`
  const message = repository.model.toMessage(stored)
  return { key: keyOf(subject, message), message }
}

/** Returns the name of a singleton (AIP-156) in a new parent; undefined for any other resource. */
const keyOfSingleton = async (world: World, { name }: Subject, side: Side): Promise<string | undefined> => {
  if (name?.isSingleton !== true || name.parent === undefined) return undefined
  const { text } = name.parent
  const above = world.subjects.find((one) => one.name?.pattern === text)
  const parent = above && (await makeRow(world, above, side))
  return typeof parent === 'object' ? `${parent.key}${name.pattern.slice(text.length)}` : undefined
}

/** Records the tokens in a Create's response, which must not occur again. */
export const noteTokens = (world: World, subject: Subject, { response }: Outcome): readonly string[] => {
  const tokens = subject.credentials.map((field) => textIn(response, field)).filter((token) => token !== '')
  for (const token of tokens) {
    world.probe.secrets.plant(token)
    const secret = token.slice(token.lastIndexOf('_') + 1)
    if (secret.length >= 16) world.probe.secrets.plant(secret)
  }
  return tokens
}

/** Returns headers that make two equal calls repetitions of each other. */
export const repeatable = (): Headers => ({ 'idempotency-key': newCanary('key-') })
