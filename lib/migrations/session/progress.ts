import type { Recovery } from '../messages/recoveries.js'

/** The progress reports of a run. */
export type Progress =
  | {
      readonly kind: 'waiting'
      /** The session that is migrating, as far as the server shows it. */
      readonly holder: string
      /** The number of its session on the server. */
      readonly session: number
      readonly waitedMs: number
    }
  | {
      readonly kind: 'adopted'
      readonly from: string
      readonly versions: readonly string[]
      /** Tables of the framework that were created. */
      readonly created: readonly string[]
    }
  | {
      /**
       * A generated search version that reads what is gone, and that another version makes unnecessary: it is
       * not run.
       */
      readonly kind: 'recorded'
      readonly version: string
      readonly because: 'vectorNotMade' | 'sourceGone'
      readonly needless: { readonly replacedBy: string } | { readonly tableDroppedBy: string }
    }
  /** The state in which an earlier run left a version, and its handling. */
  | { readonly kind: 'recovering'; readonly version: string; readonly how: Recovery }
  | {
      readonly kind: 'file'
      readonly direction: 'up' | 'down'
      readonly version: string
      readonly statements: number
    }
  | {
      /**
       * `started` before a statement is sent; `ended` after the server ran it and before that is recorded.
       */
      readonly kind: 'statement'
      readonly step: 'started' | 'ended'
      readonly version: string
      /** From 1. */
      readonly number: number
      readonly of: number
      readonly summary: string
    }
  | {
      /** Every two seconds while a statement runs. */
      readonly kind: 'running'
      readonly version: string
      /** Of the statement, from 1. */
      readonly number: number
      readonly ms: number
      /** The server's report: its phase, or the session it waits for; undefined if there is none. */
      readonly phase: string | undefined
      readonly waitsFor: string | undefined
    }
  | {
      /** After each chunk of a backfill. */
      readonly kind: 'filled'
      readonly version: string
      /** Rows that were written so far, and rows of the table up to there, earlier runs included. */
      readonly rows: number
      /** The number of these rows earlier runs have written. */
      readonly earlier: number
      readonly walked: number
      /** The number of rows the server believes that the table has; undefined when it does not know. */
      readonly of: number | undefined
      /** Rows of the table that this run goes through in a second. */
      readonly rate: number
      /**
       * The most rows of this chunk, and the pause before the next one: both follow the time that chunks
       * take.
       */
      readonly chunk: number
      readonly pauseMs: number
      /** Since this run of it began. */
      readonly ms: number
    }
  | {
      /** A message of the server: `NOTICE`, `WARNING`, `INFO` of PostgreSQL; `NOTE`, `WARNING` of MySQL. */
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
