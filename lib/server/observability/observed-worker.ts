/** A worker that runs beside the calls. */
export interface ObservedWorker {
  /** Its progress, for metrics. */
  status?(): Promise<{
    readonly name: string
    /** True if this process does the work. */
    readonly isLeading: boolean
    /** Events that are still to be done. */
    readonly lag: number
  }>
}
