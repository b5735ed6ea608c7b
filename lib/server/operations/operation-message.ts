import { create } from '@bufbuild/protobuf'
import { AnySchema } from '@bufbuild/protobuf/wkt'
import { type Operation, OperationSchema } from 'ashlar-annotations/google/longrunning/operations_pb.js'
import { StatusSchema } from 'ashlar-annotations/google/rpc/status_pb.js'
import type { OperationRecord, Packed } from './operation-store.js'

/** An operation as a client sees it. */
export const toOperation = ({ name, status, metadata, response, failure }: OperationRecord): Operation =>
  create(OperationSchema, {
    name,
    done: status !== 'pending',
    ...(metadata && { metadata: toAny(metadata) }),
    ...(response && { result: { case: 'response', value: toAny(response) } }),
    ...(failure && { result: { case: 'error', value: create(StatusSchema, failure) } }),
  })

const toAny = ({ type, value }: Packed) =>
  create(AnySchema, { typeUrl: `type.googleapis.com/${type}`, value })
