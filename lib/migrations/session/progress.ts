/** What a run reports while it works. */
export type Progress =
  | {
      readonly kind: 'waiting'
      /** Who is migrating, as far as the server shows it. */
      readonly holder: string
      readonly waitedMs: number
    }
  | {
      readonly kind: 'adopted'
      readonly from: string
      readonly versions: readonly string[]
      /** Tables of the framework that were created. */
      readonly created: readonly string[]
    }
  | { readonly kind: 'recovering'; readonly version: string; readonly text: string }
  | {
      readonly kind: 'file'
      readonly direction: 'up' | 'down'
      readonly version: string
      readonly statements: number
    }
  | {
      /** `started` before a statement is sent; `ended` after the server ran it and before that is recorded. */
      readonly kind: 'statement'
      readonly step: 'started' | 'ended'
      readonly version: string
      /** From 1. */
      readonly number: number
      readonly of: number
      readonly summary: string
    }
  | {
      /** After each chunk of a backfill. */
      readonly kind: 'filled'
      readonly version: string
      /** Rows that this run has written so far. */
      readonly rows: number
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
