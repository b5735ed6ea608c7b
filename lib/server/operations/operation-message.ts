import { create } from '@bufbuild/protobuf'
import { type Any, AnySchema } from '@bufbuild/protobuf/wkt'
import { type Operation, OperationSchema } from 'ashlar-annotations/google/longrunning/operations_pb.js'
import { type Status, StatusSchema } from 'ashlar-annotations/google/rpc/status_pb.js'
import type { OperationFailure, OperationRecord, Packed } from './operation-store.js'

/** Converts a stored operation to its message. */
export const toOperation = ({ name, status, metadata, response, failure }: OperationRecord): Operation =>
  create(OperationSchema, {
    name,
    done: status !== 'pending',
    ...(metadata && { metadata: toAny(metadata) }),
    ...(response && { result: { case: 'response', value: toAny(response) } }),
    ...(failure && { result: { case: 'error', value: failureStatus(failure) } }),
  })

/** Converts a stored failure to a status message. */
export const failureStatus = ({ code, message, details = [] }: OperationFailure): Status =>
  create(StatusSchema, { code, message, details: details.map(toAny) })

/** Returns the stored form of a status. */
export const storedFailure = ({ code, message, details }: Status): OperationFailure => ({
  code,
  message,
  ...(details.length > 0 && { details: details.map(toPacked) }),
})

const toPacked = ({ typeUrl, value }: Any): Packed => ({
  type: typeUrl.slice(typeUrl.lastIndexOf('/') + 1),
  value,
})

const toAny = ({ type, value }: Packed) =>
  create(AnySchema, { typeUrl: `type.googleapis.com/${type}`, value })
