/** A row to be written to the table `outbox`. */
export interface OutboxRow {
  /** The event's unique `id`. */
  readonly id: string
  /** The tenant. Empty if all tenants share the resource. */
  readonly accountId: string
  /** The resource type. */
  readonly aggregateType: string
  /** The resource's key. Events of one resource are delivered in order. */
  readonly aggregateId: string
  /** The event type, such as `widget.created`. */
  readonly eventType: string
  /** The complete event as CloudEvents 1.0 in structured JSON. */
  readonly payload: Buffer
}
