/** An event on its way into the table `outbox`. */
export interface OutboxRow {
  /** Unique: the `id` of the event. */
  readonly id: string
  /** `''` where the resource is shared by all tenants. */
  readonly accountId: string
  /** The type of the resource. */
  readonly aggregateType: string
  /** The key of the resource. Events of one resource keep their order. */
  readonly aggregateId: string
  /** The type of the resource and what happened to it: `widget.created`. */
  readonly eventType: string
  /** The whole event: CloudEvents 1.0, structured JSON. */
  readonly payload: Buffer
}
