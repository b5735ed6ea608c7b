import { type DescField, type DescMethod, type Message, ScalarType } from '@bufbuild/protobuf'
import { MethodOptions_IdempotencyLevel as Level } from '@bufbuild/protobuf/wkt'
import { randomUUID } from 'node:crypto'
import { isGetAlone } from '../../resource/messages/http-paths.js'
import type { Local } from '../../resource/messages/local-field.js'

/** The standard methods that read. */
const READS = /^(Get|List|BatchGet)[A-Z]/

/**
 * True if a method may run twice: it reads, by its HTTP rules, its name or `idempotency_level`; or it is
 * declared idempotent; or its request has a `request_id` (AIP-155).
 */
export const isRepeatable = (method: DescMethod): boolean =>
  method.methodKind === 'unary' &&
  (method.idempotency !== Level.IDEMPOTENCY_UNKNOWN ||
    READS.test(method.name) ||
    isGetAlone(method) ||
    requestIdOf(method) !== undefined)

/**
 * Gives a request an id, where it can have one and its caller gave none: repeated, it is known to be the
 * same.
 */
export const identify = (method: DescMethod, request: Message): void => {
  const field = requestIdOf(method)
  const values = request as Local
  if (field !== undefined && (values[field.localName] ?? '') === '') values[field.localName] = randomUUID()
}

const requestIdOf = ({ input }: DescMethod): DescField | undefined =>
  input.fields.find(
    ({ name, fieldKind, scalar, oneof }) =>
      name === 'request_id' && fieldKind === 'scalar' && scalar === ScalarType.STRING && oneof === undefined,
  )
