import { create, type DescMessage, isMessage, type Message } from '@bufbuild/protobuf'
import { FieldMaskSchema } from '@bufbuild/protobuf/wkt'
import { ClientError, Status } from 'nice-grpc'
import type { Call } from '../chain/call.js'
import { valueOf } from '../chain/method.js'
import { ResourceExhausted, Unavailable } from '../../errors.js'
import { isInstance } from '../../faults/readable.js'
import type { Logger } from '../observability/logger.js'
import type { RequestId } from '../interceptors/request-id.js'
import { wireKey } from '../methods/scope/wire-keys.js'
import type { BatchGet } from './batch-get.js'
import type { ExternalTarget } from './external-target.js'
import { metadataFor, unaryOf } from './target-calls.js'

/**
 * The maximum number of calls per page and type. A target rejects a batch as a whole, so a missing key is
 * found by bisection: 128 keys need at most this many calls.
 */
const MAX_CALLS = 256

/** The target does not have one of the keys, hides it from the caller, or cannot parse it. */
const IS_OF_A_KEY: ReadonlySet<Status> = new Set([Status.NOT_FOUND, Status.INVALID_ARGUMENT])
const IS_DENIED: ReadonlySet<Status> = new Set([Status.PERMISSION_DENIED, Status.UNAUTHENTICATED])

/** The method that reads the resources of a type. */
export interface Source {
  readonly target: ExternalTarget
  readonly batchGet: BatchGet
  readonly message: DescMessage
}

/** The resources and fields that the read mask of a page requests. */
export interface Wanted {
  readonly keys: ReadonlySet<string>
  /** Fields of the resource; undefined for all of them. */
  readonly paths: readonly string[] | undefined
}

type CallInChain = Call & RequestId

/**
 * Reads resources by their keys, with the call's credentials and deadline. Keys that the target does not have
 * or hides from the caller are omitted.
 * @param identity - the headers that identify the caller if there is no authenticator.
 * @throws Unavailable if the target does not respond, ResourceExhausted if too many keys are missing.
 */
export async function fetchReferenced(
  source: Source,
  { keys, paths }: Wanted,
  call: CallInChain,
  identity: readonly string[],
  logger: Logger,
): Promise<ReadonlyMap<string, Message>> {
  const { target, batchGet } = source
  const found = new Map<string, Message>()
  let left = MAX_CALLS
  const get = unaryOf(target, batchGet.method)
  const read = async (some: readonly string[]): Promise<void> => {
    if (--left < 0)
      throw new ResourceExhausted(
        `too many resources on this page refer to a missing ${target.type}: request a smaller page`,
      )
    let response: Message
    try {
      call.time.mustGoOn()
      const metadata = metadataFor([...target.metadata, ...identity], call)
      response = await get(requestOf(batchGet, some, paths), { metadata, signal: call.signal })
    } catch (error) {
      const code = isInstance(error, ClientError) ? error.code : undefined
      if (code !== undefined && IS_OF_A_KEY.has(code)) {
        if (some.length > 1) for (const half of halvesOf(some)) await read(half)
        return
      }
      if (code !== undefined && IS_DENIED.has(code))
        return logger.debug(
          { requestId: call.requestId, type: target.type, code: Status[code] },
          'reference denied',
        )
      call.time.mustGoOn()
      throw new Unavailable(`${target.type} cannot be read at the moment: retry later`, error)
    }
    for (const item of itemsOf(response, source)) {
      const key = String(valueOf(item, batchGet.key) as string | number | bigint)
      if (some.includes(key) && !found.has(key)) found.set(key, item)
    }
  }
  // Skips keys that the request field cannot contain, because no row of the target has them.
  const wanted = [...keys].filter((key) => wireKey(batchGet.keys, key) !== undefined)
  await Promise.all(chunksOf(wanted, target.batchSize).map(read))
  return found
}

function requestOf(
  { method, keys, key, mask, parent }: BatchGet,
  some: readonly string[],
  paths: Wanted['paths'],
): Message {
  const values: Record<string, unknown> = { [keys.localName]: some.map((text) => wireKey(keys, text)) }
  if (parent !== undefined) values[parent.field.localName] = parent.value
  if (mask !== undefined && paths !== undefined) {
    const all = [...new Set([key.name, ...paths])]
    values[mask.localName] = mask.fieldKind === 'list' ? all : create(FieldMaskSchema, { paths: all })
  }
  return create(method.input, values)
}

const itemsOf = (response: Message, { batchGet, message }: Source): readonly Message[] =>
  (valueOf(response, batchGet.items) as unknown[]).filter((item): item is Message => isMessage(item, message))

const halvesOf = (keys: readonly string[]): readonly (readonly string[])[] => {
  const middle = Math.ceil(keys.length / 2)
  return [keys.slice(0, middle), keys.slice(middle)]
}

const chunksOf = (keys: readonly string[], size: number): readonly (readonly string[])[] =>
  Array.from({ length: Math.ceil(keys.length / size) }, (_, i) => keys.slice(i * size, (i + 1) * size))
