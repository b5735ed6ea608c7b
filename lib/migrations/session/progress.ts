import type { Recovery } from '../messages/recoveries.js'

/** The progress reports of a run. */
export type Progress =
  | {
      readonly kind: 'waiting'
      /** The session that is migrating, as the server describes it. */
      readonly holder: string
      /** The number of the session on the server. */
      readonly session: number
      readonly waitedMs: number
    }
  | {
      readonly kind: 'adopted'
      readonly from: string
      readonly versions: readonly string[]
      /** The tables of Ashlar that were created. */
      readonly created: readonly string[]
    }
  | {
      /**
       * A generated search version that is recorded without running it, because it reads objects that no
       * longer exist and another version makes it unnecessary.
       */
      readonly kind: 'recorded'
      readonly version: string
      readonly because: 'vectorNotMade' | 'sourceGone'
      readonly needless: { readonly replacedBy: string } | { readonly tableDroppedBy: string }
    }
  /** The state in which an earlier run left a version, and how the run continues. */
  | { readonly kind: 'recovering'; readonly version: string; readonly how: Recovery }
  | {
      readonly kind: 'file'
      readonly direction: 'up' | 'down'
      readonly version: string
      readonly statements: number
    }
  | {
      /**
       * `started` before a statement is sent; `ended` after the server has run it and before this is
       * recorded.
       */
      readonly kind: 'statement'
      readonly step: 'started' | 'ended'
      readonly version: string
      /** The statement's number, starting at 1. */
      readonly number: number
      readonly of: number
      readonly summary: string
    }
  | {
      /** Sent every two seconds while a statement runs. */
      readonly kind: 'running'
      readonly version: string
      /** The statement's number, starting at 1. */
      readonly number: number
      readonly ms: number
      /**
       * The server's report: a phase, or the session that the statement waits for. Undefined if there is
       * none.
       */
      readonly phase: string | undefined
      readonly waitsFor: string | undefined
    }
  | {
      /** Sent after each chunk of a backfill. */
      readonly kind: 'filled'
      readonly version: string
      /**
       * The number of rows written so far, and the number of the table's rows up to the position. Both
       * include earlier runs.
       */
      readonly rows: number
      /** The number of rows that earlier runs have written. */
      readonly earlier: number
      readonly walked: number
      /** The server's estimate of the table's rows. Undefined if it has none. */
      readonly of: number | undefined
      /** The number of the table's rows that this run processes per second. */
      readonly rate: number
      /**
       * The maximum number of rows in this chunk, and the pause before the next one. Both depend on the
       * duration of chunks.
       */
      readonly chunk: number
      readonly pauseMs: number
      /** The time in milliseconds since this run of the backfill began. */
      readonly ms: number
    }
  | {
      /** A message of the server: PostgreSQL's `NOTICE`, `WARNING` or `INFO`; MySQL's `NOTE` or `WARNING`. */
      readonly kind: 'notice'
      readonly severity: string
      readonly text: string
    }
  | {
      readonly kind: 'done'
      readonly direction: 'up' | 'down'
      readonly version: string
      readonly ms: number
    }
