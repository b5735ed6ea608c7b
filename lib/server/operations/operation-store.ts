/** A message of any type, packed. */
export interface Packed {
  /** Full name of the message. */
  readonly type: string
  readonly value: Uint8Array
}

export interface OperationFailure {
  /** google.rpc.Code. */
  readonly code: number
  readonly message: string
}

/** pending until it is one of the others, all of which are final. */
export type OperationStatus = 'pending' | 'succeeded' | 'failed' | 'cancelled'

/** A long-running operation (AIP-151) as it is kept. */
export interface OperationRecord {
  /** `operations/<id>`; ids sort by the time they were made. */
  readonly name: string
  readonly tenant: string
  /** gRPC full name of the method that started it. */
  readonly method: string
  readonly status: OperationStatus
  readonly metadata: Packed | undefined
  readonly response: Packed | undefined
  readonly failure: OperationFailure | undefined
}

/** What the worker of an operation writes: progress, the end, or just that it is alive. */
export interface OperationChange {
  readonly metadata?: Packed | undefined
  readonly end?: Pick<OperationRecord, 'status' | 'response' | 'failure'> | undefined
}

/** What a worker learns when it writes. */
export interface WorkerView {
  /** The operation is still its own and pending. */
  readonly isHeld: boolean
  readonly isCancelRequested: boolean
}

/**
 * Keeps long-running operations. A pending one whose worker has not written for the length of its lease has failed: its worker is
 * dead. What has ended is forgotten after a while.
 */
export interface OperationStore {
  create(record: OperationRecord, owner: string, leaseMs: number): Promise<void>
  /** Writes as the owner, and renews the lease. A final state is never written over. */
  write(name: string, owner: string, change: OperationChange, leaseMs: number): Promise<WorkerView>
  find(tenant: string, name: string): Promise<OperationRecord | undefined>
  /** In the order of their names, those behind `after`. */
  list(tenant: string, after: string, limit: number): Promise<OperationRecord[]>
  /** Asks the worker of a pending operation to stop; false when the tenant has no such operation. */
  requestCancel(tenant: string, name: string): Promise<boolean>
  /** Forgets an operation, without stopping it; false when the tenant has no such operation. */
  remove(tenant: string, name: string): Promise<boolean>
  /** As `Repository.checkWrites`. */
  checkWrites?(): Promise<void>
}

/** How an operation ends whose worker died. */
export const WORKER_DIED: OperationFailure = {
  code: 14,
  message: 'the process that worked on it is gone: start it again',
}
