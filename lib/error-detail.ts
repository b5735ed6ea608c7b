import type { DescMessage, Message } from '@bufbuild/protobuf'
import type { FieldViolation } from './field-violations.js'

/**
 * A machine-readable detail of an error: a google.rpc.error_details message as a plain object, or any
 * message. A caller receives all details of an error: packed in `details` over HTTP and Connect, and as
 * `grpc-status-details-bin` over gRPC and gRPC-Web.
 */
export type ErrorDetail =
  | {
      readonly kind: 'errorInfo'
      readonly reason: string
      readonly metadata?: Readonly<Record<string, string>>
    }
  | { readonly kind: 'badRequest'; readonly violations: readonly FieldViolation[] }
  | {
      readonly kind: 'preconditionFailure'
      readonly type: string
      readonly subject: string
      readonly description: string
    }
  | { readonly kind: 'retryInfo'; readonly delayMs: number }
  | MessageDetail

/**
 * Any message. It is sent unchanged, without hiding fields. At most 4 KiB of such messages are sent with one
 * error. A message that exceeds the space or cannot be encoded is omitted, which is logged.
 * @inline
 * @example
 * ```ts
 * import { AshlarError } from 'ashlar'
 * import { type Widget, WidgetSchema } from './gen/widgets_pb.js'
 *
 * export const inUse = (widget: Widget) =>
 *   new AshlarError('FAILED_PRECONDITION', 'the widget is in use', {
 *     details: [{ desc: WidgetSchema, message: widget }],
 *   })
 * ```
 */
export interface MessageDetail {
  readonly kind?: undefined
  readonly desc: DescMessage
  /** A message of the type `desc`, or the values of its fields. */
  readonly message: Message | object
}
