/** A packed message of any type. */
export interface Packed {
  /** Full name of the message. */
  readonly type: string
  readonly value: Uint8Array
}

/** The error of a failed operation. */
export interface OperationFailure {
  /** A google.rpc.Code. */
  readonly code: number
  readonly message: string
  /** The details of google.rpc.Status. */
  readonly details?: readonly Packed[]
}

/** The state of an operation: `pending` at first, then one of the final states. */
export type OperationStatus = 'pending' | 'succeeded' | 'failed' | 'cancelled'

/** A stored long-running operation (AIP-151). */
export interface OperationRecord {
  /**
   * `operations/<id>`. Ids sort by creation time. The name of an operation that belongs to one principal
   * includes that principal and sorts after the tenant's operations.
   */
  readonly name: string
  readonly tenant: string
  /** Full gRPC name of the method that started it. */
  readonly method: string
  readonly status: OperationStatus
  readonly metadata: Packed | undefined
  readonly response: Packed | undefined
  readonly failure: OperationFailure | undefined
}

/** A write of an operation's worker: progress, the end, or only a renewal of the lease. */
export interface OperationChange {
  readonly metadata?: Packed | undefined
  readonly end?: Pick<OperationRecord, 'status' | 'response' | 'failure'> | undefined
}

/** The state that a worker receives when it writes. */
export interface WorkerView {
  /** True if the operation is pending and still belongs to this worker. */
  readonly isHeld: boolean
  readonly isCancelRequested: boolean
}

/**
 * Stores long-running operations. A pending operation fails if its worker does not write before its lease
 * expires, because the worker is then considered dead. Ended operations are removed after a while.
 */
export interface OperationStore {
  /** Stores a new operation that belongs to `owner` for `leaseMs` milliseconds. */
  create(record: OperationRecord, owner: string, leaseMs: number): Promise<void>
  /** Writes a change as the owner and renews the lease. A final state is never overwritten. */
  write(name: string, owner: string, change: OperationChange, leaseMs: number): Promise<WorkerView>
  /** Returns the tenant's operation of that name; undefined if there is none. */
  find(tenant: string, name: string): Promise<OperationRecord | undefined>
  /** Returns the tenant's operations whose names sort after `after`, by name. */
  list(tenant: string, after: string, limit: number): Promise<OperationRecord[]>
  /**
   * Requests the worker of a pending operation to stop. Returns false if the tenant has no such operation.
   */
  requestCancel(tenant: string, name: string): Promise<boolean>
  /** Removes an operation without stopping it. Returns false if the tenant has no such operation. */
  remove(tenant: string, name: string): Promise<boolean>
  /** See `Repository.checkWrites`. */
  checkWrites?(): Promise<void>
}

/** The failure of an operation whose worker died. */
export const WORKER_DIED: OperationFailure = {
  code: 14,
  message: 'the process that ran it no longer exists: start it again',
}
