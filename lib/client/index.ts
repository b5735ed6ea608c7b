/**
 * Typed clients of generated services, over gRPC or Connect.
 * @module
 */
export { Metadata } from '../call.js'
export { AshlarError, type Code, type ErrorDetail, type FieldViolation } from '../errors.js'
export { createClient, openOperation } from './create-client.js'
export type { CallOptions, ClientOptions } from './calling/call-options.js'
export type { Client, ClientMethod } from './client-types.js'
export type { OperationHandle } from './operations/operation-handle.js'
export type { WaitOptions } from './operations/states.js'
export type { ListCall } from './pages/list-call.js'
export type { RetryOptions } from './retries/retry-policy.js'
export { connectTransport, type ConnectTransportOptions } from './transports/connect-transport.js'
export { grpcTransport, type GrpcTransportOptions } from './transports/grpc-transport.js'
export type { ClientMetadata } from './transports/sent-metadata.js'
export type { Attempt, ClientTransport } from './transports/transport.js'
