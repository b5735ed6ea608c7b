/** A worker that runs in the server's process. */
export interface ObservedWorker {
  /** Returns its progress for metrics. */
  status?(): Promise<{
    readonly name: string
    /** True if this process does the work at present. */
    readonly isLeading: boolean
    /** The number of events that have not been processed. */
    readonly lag: number
  }>
}
