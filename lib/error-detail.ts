import type { DescMessage, Message } from '@bufbuild/protobuf'
import type { FieldViolation } from './field-violations.js'

/**
 * A fact about an error, for programs: one of google.rpc.error_details as a plain object, or any message. A
 * caller gets all details of an error together: packed in `details` over HTTP and Connect, as
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
 * Any message, as it is: no field of it is hidden. At most 4 KiB of these messages are sent with one error; a
 * message that has no room, or that cannot be written, is left out, and the log says so.
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
  /** A message of `desc`, or the values of its fields. */
  readonly message: Message | object
}
