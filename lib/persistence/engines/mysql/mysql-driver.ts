/** The part of `mysql2` that Ashlar uses. */
export interface Module {
  readonly Connection: new (options: { config: object }) => Connection
  readonly TypedParameter?: {
    readonly LONGLONG: ((value: bigint) => unknown) & { unsigned(value: bigint): unknown }
  }
}

export interface Pool {
  readonly config: { readonly connectionConfig: { readonly user?: string; connectTimeout?: number } }
  getConnection(done: (error: Error | null, connection: Connection | undefined) => void): void
}

/** A statement that emits its rows as they arrive. It also emits `end` after an error. */
export interface RowEvents {
  on(event: 'result', listener: (row: readonly unknown[]) => void): void
  on(event: 'error', listener: (error: Error) => void): void
  on(event: 'end', listener: () => void): void
}

export interface Connection {
  readonly threadId: number
  readonly stream: { destroy(): void }
  readonly config: {
    readonly user?: string
    clientFlags: number
    charsetNumber: number
    jsonStrings?: boolean
  }
  execute(query: object, done: (error: Error | null, result: unknown) => void): void
  /** Runs a statement without a callback. Rows arrive as events. */
  execute(query: object): RowEvents
  query(text: string, done: (error: Error | null, header?: unknown) => void): void
  unprepare(query: object): void
  on(event: 'error', listener: (error: Error) => void): void
  removeListener(event: 'error', listener: (error: Error) => void): void
  release(): void
  destroy(): void
}

export interface MysqlDriver {
  readonly mysql: Module
  readonly pool?: Pool
  readonly version?: string
}
