/** The table that records applied versions, one per module schema (per database on MySQL). */
export const VERSION_TABLE = 'ashlar_migrations'

/** The table with the progress of backfills, which the first backfill creates. */
export const BACKFILL_TABLE = 'ashlar_backfills'

/** The two-column table of other migration tools. Its versions are imported before the first run. */
export const ADOPTED_TABLE = 'schema_migrations'
