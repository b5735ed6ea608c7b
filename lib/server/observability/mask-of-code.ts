import type { DescMessage, Message } from '@bufbuild/protobuf'
import { FieldMaskSchema } from '@bufbuild/protobuf/wkt'
import type { OperationWork } from '../../call.js'
import { InvalidArgument } from '../../errors.js'
import { InvalidMask } from '../../resource/mask-paths.js'
import { getField } from '../../resource/messages/local-field.js'
import { snakeCase } from '../../text/snake-case.js'
import type { Call } from '../chain/call.js'

/** The maximum depth at which masks are searched for. */
const MAX_DEPTH = 10

/**
 * Returns the error for the caller. If the request does not contain the invalid mask, it was written by code
 * and is a server error.
 * @param error - any error of a call.
 */
export function ofRequestOrCode(error: unknown, { method: { desc }, request, requests }: Call): unknown {
  if (!(error instanceof InvalidMask)) return error
  const name = snakeCase(error.maskName)
  const names = request === undefined ? [] : [...masksIn(desc.input, request)]
  // The messages of a client's stream are not stored.
  const isOfRequest =
    requests === undefined ? names.some((one) => snakeCase(one) === name) : hasMask(desc.input)
  if (isOfRequest) return new InvalidArgument('update_mask', error.description, error)
  return new TypeError(`code wrote an invalid mask: ${error.message}`, { cause: error })
}

/** Returns the work of an operation with its errors converted for the caller. */
export const ofCall =
  (call: Call, work: OperationWork): OperationWork =>
  async (running) => {
    try {
      return await work(running)
    } catch (error) {
      throw ofRequestOrCode(error, call)
    }
  }

const isMask = (field: DescMessage['fields'][number]): boolean =>
  field.message?.typeName === FieldMaskSchema.typeName ||
  (field.name === 'update_mask' && field.fieldKind === 'list')

function* masksIn(desc: DescMessage, message: Message, depth = 0): Generator<string> {
  for (const field of desc.fields) {
    const value = getField(message, field)
    // A read mask writes nothing.
    if (value === undefined || field.name === 'read_mask' || (field.message === undefined && !isMask(field)))
      continue
    const values: readonly unknown[] =
      field.fieldKind === 'list'
        ? (value as readonly unknown[])
        : field.fieldKind === 'map'
          ? Object.values(value as object)
          : [value]
    for (const one of values)
      if (typeof one === 'string') yield one
      else if (field.message?.typeName === FieldMaskSchema.typeName) yield* (one as { paths: string[] }).paths
      else if (isInner(field.message) && depth < MAX_DEPTH)
        yield* masksIn(field.message, one as Message, depth + 1)
  }
}

const isInner = (desc: DescMessage | undefined): desc is DescMessage =>
  desc !== undefined && !desc.typeName.startsWith('google.protobuf.')

const hasMask = (desc: DescMessage, seen = new Set<DescMessage>()): boolean => {
  if (seen.has(desc)) return false
  seen.add(desc)
  return desc.fields.some(
    (field) =>
      (isMask(field) && field.name !== 'read_mask') ||
      (isInner(field.message) && hasMask(field.message, seen)),
  )
}
