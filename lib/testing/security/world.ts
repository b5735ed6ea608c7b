import type { Message } from '@bufbuild/protobuf'
import { RequestContext } from '../../context.js'
import type { NamePattern } from '../../persistence/index.js'
import { Canaries, newCanary } from './leaks/canary.js'
import type { Headers, Outcome } from './listener-clients.js'
import type { Caller, Probe } from './probe.js'
import { keyOf, requestFor, textIn } from './requests.js'
import { sampleOf, type Samples } from './samples.js'
import type { Subject } from './subjects.js'

/** A tenant of the check, with a caller who may do everything in it. */
export interface Side extends Caller {
  readonly tenant: string
  /** The prefix of its texts. */
  readonly text: string
}

/** The two tenants, and what the check knows of them. */
export interface World {
  readonly probe: Probe
  readonly a: Side
  readonly b: Side
  readonly samples: Samples
  /** The value of secret fields. */
  readonly secret: string
}

/** A resource that was created through the API. */
export interface Row {
  readonly key: string
  readonly message: Message
}

/** The texts of one tenant, which the other must not see. */
export const newText = (): { readonly text: string; readonly canaries: Canaries } => {
  const canaries = new Canaries()
  return { text: canaries.plant(newCanary('z')), canaries }
}

let made = 0

/** A number that no other value of the process uses. */
export const nextNumber = (): number => ++made

/** A new resource of a tenant, not sent yet. */
export const draft = (world: World, subject: Subject, { text }: Side, n = nextNumber()): Message =>
  sampleOf(subject, { n, text, secret: world.secret }, world.samples)

/** A key in the resource's format that does not exist. */
export const newKey = (subject: Subject): string =>
  subject.name === undefined
    ? subject.keyPattern.replaceAll(/\*+/g, () => newCanary('check-'))
    : nameWith(subject.name, newCanary('check-'))

/** What a variable of a name holds, its last one aside. */
const PARENT = 'check'

const nameWith = ({ segments, variables }: NamePattern, key: string): string => {
  const last = variables.at(-1)?.name
  return segments
    .map(({ kind, text }) => (kind === 'literal' ? text : text === last ? key : PARENT))
    .join('/')
}

/** Creates what the resources of the check are in, for both tenants. */
export const makeParents = async (world: World, subjects: readonly Subject[]): Promise<void> => {
  const parents = new Set(subjects.map(({ name }) => name?.parent?.text))
  const named = subjects.flatMap((subject) =>
    subject.name === undefined ? [] : [{ subject, name: subject.name }],
  )
  named.sort((one, other) => one.name.variables.length - other.name.variables.length)
  for (const { subject, name } of named.filter((one) => parents.has(one.name.pattern)))
    for (const side of [world.a, world.b]) await makeRow(world, subject, side, nameWith(name, PARENT))
}

/**
 * Creates a resource for a tenant, with Create or else through the repository. A returned text says why it cannot be
 * created. Create may let the server choose the key, or require one.
 * @param asked - the key; else a new one.
 */
export const makeRow = async (
  world: World,
  subject: Subject,
  side: Side,
  asked?: string,
): Promise<Row | string> => {
  const create = subject.of('create')
  if (create === undefined) return storeRow(world, subject, side, asked)
  let said = ''
  const keys = subject.keyPattern === '*' ? ['', newKey(subject)] : [newKey(subject)]
  for (const key of asked === undefined ? keys : [asked]) {
    const request = requestFor(subject, create, { key, entity: draft(world, subject, side) })
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
  return `${create.path} refuses what was made up (${said}): give \`samples\` of ${subject.message.typeName}`
}

const storeRow = async (
  world: World,
  subject: Subject,
  side: Side,
  asked: string | undefined,
): Promise<Row | string> => {
  const { repository } = subject
  if (repository === undefined)
    return `there is no Create method of ${subject.message.typeName}, and no repository`
  const entity = repository.model.fromMessage(draft(world, subject, side))
  const { name } = subject
  if (name !== undefined) {
    const values = name.parse(asked ?? newKey(subject))
    Object.assign(
      entity,
      Object.fromEntries(name.variables.map(({ field }, at) => [field.property, values?.[at]])),
    )
  }
  const stored = await RequestContext.as({ tenant: side.tenant, subject: 'security-check' }, () =>
    repository.create(entity),
  )
  const message = repository.model.toMessage(stored)
  return { key: keyOf(subject, message), message }
}

/** A token that a Create showed must not appear again. */
export const noteTokens = (world: World, subject: Subject, { response }: Outcome): readonly string[] => {
  const tokens = subject.credentials.map((field) => textIn(response, field)).filter((token) => token !== '')
  for (const token of tokens) {
    world.probe.secrets.plant(token)
    const secret = token.slice(token.lastIndexOf('_') + 1)
    if (secret.length >= 16) world.probe.secrets.plant(secret)
  }
  return tokens
}

/** Headers that make two equal calls one, so that the second is a repetition. */
export const repeatable = (): Headers => ({ 'idempotency-key': newCanary('key-') })
