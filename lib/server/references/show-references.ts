import { create, type DescField, type DescMessage, type DescMethod, type Message } from '@bufbuild/protobuf'
import { InvalidArgument, problem, type Problem } from '../../errors.js'
import { withholding } from '../../resource/behavior/withhold-input-only.js'
import { type Redaction, withoutSecrets } from '../../resource/redaction.js'
import { resourceAnnotation } from '../../resource/names/resource-annotation.js'
import { type ShownReference, shownReferences } from '../../resource/relations/reference-fields.js'
import { methodOf, valueOf } from '../chain/method.js'
import type { ShowReferences } from '../interceptors/read-mask.js'
import type { Logger } from '../observability/logger.js'
import { quotedKey } from '../../resource/messages/field-names.js'
import type { ReadTree } from '../methods/read-tree.js'
import { keyTextIn } from '../methods/scope/wire-keys.js'
import { batchGetOf } from './batch-get.js'
import type { ExternalTarget } from './external-target.js'
import { fetchReferenced, type Source } from './fetch-referenced.js'

/** The parts of the server that showing references uses. */
export interface ReferenceParts {
  readonly external: ReadonlyMap<string, ExternalTarget>
  readonly redaction: Redaction
  readonly logger: Logger
  /** The headers that identify the caller if there is no authenticator. */
  readonly identity: readonly string[]
}

/** The maximum nesting depth of resources in a read mask. */
const MAX_DEPTH = 3

/** A field that shows a referenced resource, and the method that reads it. */
interface Shown extends ShownReference, Source {}

/**
 * Returns a function that fills a message's references with resources of other processes; undefined if the
 * message has none.
 */
export function showReferences(desc: DescMessage, parts: ReferenceParts): ShowReferences | undefined {
  const all = shownIn(desc, parts.external)
  if (all.length === 0) return undefined
  return async (messages, tree, call) => {
    const asked = all.filter(({ field }) => tree.has(field))
    if (asked.length === 0) return messages
    for (const { field } of asked) checkDepth(tree, field)
    const found = new Map<string, ReadonlyMap<string, Message>>()
    await Promise.all(
      [...new Set(asked.map(({ type }) => type))].map(async (type) => {
        const same = asked.filter((one) => one.type === type)
        const keys = new Set(same.flatMap((one) => messages.flatMap((message) => keyIn(message, one))))
        if (keys.size === 0) return
        const wanted = { keys, paths: pathsOf(same, tree) }
        const read = await fetchReferenced(same[0] as Shown, wanted, call, parts.identity, parts.logger)
        found.set(
          type,
          new Map([...read].map(([key, one]) => [key, readable(one, same[0] as Shown, parts.redaction)])),
        )
      }),
    )
    return messages.map((message) => {
      const values = asked.flatMap((one) => {
        const [key] = keyIn(message, one)
        const shown = key === undefined ? undefined : found.get(one.type)?.get(key)
        return shown === undefined ? [] : [[one.field.localName, shown] as const]
      })
      return values.length === 0 ? message : Object.assign(create(desc), message, Object.fromEntries(values))
    })
  }
}

/**
 * Returns a problem for each field that a method could show but that nothing fills.
 * @param isFilled - returns true if the server's own code fills the field.
 */
export function unshownReferences(
  methods: Iterable<DescMethod>,
  external: ReadonlyMap<string, ExternalTarget>,
  isFilled: (field: DescField) => boolean,
): Problem[] {
  const messages = new Set([...methods].map((desc) => methodOf(desc).readable.message))
  return [...messages].flatMap((message) =>
    shownReferences(message).flatMap(({ field, type }) => {
      if (isFilled(field)) return []
      const target = external.get(type)
      const name = `${message.typeName}.${field.name}`
      if (target?.address === undefined)
        return [
          problem(
            'reference',
            `${name} shows a ${type}, but nothing reads it`,
            `declare the relation in the entity, or call recordExternalReferenceTarget('${type}', address) if another process serves it`,
          ),
        ]
      return sourceOf(field.message, target) === undefined
        ? [
            problem(
              'reference',
              `${name} shows a ${type}, whose service has no BatchGet of ${field.message.typeName} with ids or names`,
              `name the service that has it in recordExternalReferenceTarget('${type}', address, { service })`,
            ),
          ]
        : []
    }),
  )
}

const shownIn = (desc: DescMessage, external: ReferenceParts['external']): readonly Shown[] =>
  shownReferences(desc).flatMap((shown) => {
    const target = external.get(shown.type)
    const source = target?.address === undefined ? undefined : sourceOf(shown.field.message, target)
    return source === undefined ? [] : [{ ...shown, ...source }]
  })

function sourceOf(message: DescMessage, target: ExternalTarget): Source | undefined {
  const services = target.service === undefined ? servicesBeside(message) : [target.service]
  for (const service of services) {
    const batchGet = batchGetOf(service, message)
    if (batchGet !== undefined) return { target, batchGet, message }
  }
  return undefined
}

/** Returns the services in a message's .proto file. */
const servicesBeside = ({ file }: DescMessage) => file.services

/** Returns the key to read; none if the server's own code has already filled the field. */
function keyIn(message: Message, { field, reference }: ShownReference): readonly string[] {
  if (valueOf(message, field) !== undefined) return []
  const key = keyTextIn(message, reference)
  return key === '' ? [] : [key]
}

/** Returns the paths requested by all fields of one type; undefined for all paths. */
function pathsOf(shown: readonly Shown[], tree: ReadTree): readonly string[] | undefined {
  const paths = new Set<string>()
  for (const { field } of shown) {
    const branch = tree.get(field)
    if (branch === undefined) return undefined
    for (const path of leavesOf(branch)) paths.add(path)
  }
  return [...paths]
}

type Branch = NonNullable<ReturnType<ReadTree['get']>>

function leavesOf(branch: Branch): readonly string[] {
  if ('keys' in branch)
    return [...branch.keys].flatMap(([key, below]) =>
      below === undefined ? [quotedKey(key)] : leavesOf(below).map((leaf) => `${quotedKey(key)}.${leaf}`),
    )
  return [...branch.tree].flatMap(([field, below]) =>
    below === undefined ? [field.name] : leavesOf(below).map((leaf) => `${field.name}.${leaf}`),
  )
}

/**
 * Limits the nesting, because each level may be a call from one server to the next.
 * @throws InvalidArgument
 */
function checkDepth(tree: ReadTree, field: DescField, depth = 1): void {
  const branch = tree.get(field)
  if (branch === undefined || 'keys' in branch) return
  for (const inner of branch.tree.keys()) {
    const isResource = inner.message !== undefined && resourceAnnotation(inner.message) !== undefined
    if (isResource && depth === MAX_DEPTH)
      throw new InvalidArgument('read_mask', `names more than ${MAX_DEPTH} nested resources`)
    checkDepth(branch.tree, inner, isResource ? depth + 1 : depth)
  }
}

/** Removes everything from another server's message that this server may not return. */
function readable(message: Message, { message: desc }: Source, redaction: Redaction): Message {
  const cleared = withoutSecrets(redaction, desc, message).message
  return withholding(desc)?.(cleared) ?? cleared
}
