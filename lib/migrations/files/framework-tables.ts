/** The table that records the applied versions: one per module schema (MySQL: per database). */
export const VERSION_TABLE = 'ashlar_migrations'

/** The progress of backfills; created by the first one. */
export const BACKFILL_TABLE = 'ashlar_backfills'

/** The two-column table of other migration tools, whose versions are taken over on first contact. */
export const ADOPTED_TABLE = 'schema_migrations'
