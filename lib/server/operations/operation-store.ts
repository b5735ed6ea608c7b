/** A message of any type, packed. */
export interface Packed {
  /** Full name of the message. */
  readonly type: string
  readonly value: Uint8Array
}

/** The failure of an operation. */
export interface OperationFailure {
  /** google.rpc.Code. */
  readonly code: number
  readonly message: string
  /** The details of google.rpc.Status. */
  readonly details?: readonly Packed[]
}

/** `pending` at first; the other states are final. */
export type OperationStatus = 'pending' | 'succeeded' | 'failed' | 'cancelled'

/** A stored long-running operation (AIP-151). */
export interface OperationRecord {
  /**
   * `operations/<id>`; ids sort by creation time. The name of an operation that belongs to one principal
   * includes that principal, and sorts after the tenant's.
   */
  readonly name: string
  readonly tenant: string
  /** gRPC full name of the method that started it. */
  readonly method: string
  readonly status: OperationStatus
  readonly metadata: Packed | undefined
  readonly response: Packed | undefined
  readonly failure: OperationFailure | undefined
}

/** The change that an operation's worker writes: progress, the end, or a heartbeat. */
export interface OperationChange {
  readonly metadata?: Packed | undefined
  readonly end?: Pick<OperationRecord, 'status' | 'response' | 'failure'> | undefined
}

/** The state that a worker reads when it writes. */
export interface WorkerView {
  /** The operation is pending and still belongs to this worker. */
  readonly isHeld: boolean
  readonly isCancelRequested: boolean
}

/**
 * Stores long-running operations. A pending operation fails when its worker has not written for the length of
 * its lease: the worker is dead. Ended operations are removed after a while.
 */
export interface OperationStore {
  /** Stores a new operation, which its owner keeps for `leaseMs` milliseconds. */
  create(record: OperationRecord, owner: string, leaseMs: number): Promise<void>
  /** Writes as the owner, and renews the lease. Never overwrites a final state. */
  write(name: string, owner: string, change: OperationChange, leaseMs: number): Promise<WorkerView>
  /** The operation of this tenant, if there is one. */
  find(tenant: string, name: string): Promise<OperationRecord | undefined>
  /** Sorted by name, those after `after`. */
  list(tenant: string, after: string, limit: number): Promise<OperationRecord[]>
  /** Asks the worker of a pending operation to stop. False when the tenant has no such operation. */
  requestCancel(tenant: string, name: string): Promise<boolean>
  /** Removes an operation, without stopping it. False when the tenant has no such operation. */
  remove(tenant: string, name: string): Promise<boolean>
  /** Like `Repository.checkWrites`. */
  checkWrites?(): Promise<void>
}

/** The error of an operation whose worker died. */
export const WORKER_DIED: OperationFailure = {
  code: 14,
  message: 'the process that ran it no longer exists: start it again',
}
