/** The table that remembers what was applied: one in each module's schema (MySQL: in the database). */
export const VERSION_TABLE = 'ashlar_migrations'

/** The two-column table of other migration tools whose versions are taken over on first contact. */
export const ADOPTED_TABLE = 'schema_migrations'
