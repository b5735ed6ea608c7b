-- A position is drawn by the INSERT, while the row of the resource is locked. The sequencer gives committed rows their place in
-- the log. Nothing of the framework has written these tables before, so that the indexes are built over no rows.
-- ashlar:allow require-concurrent-index-creation
CREATE SEQUENCE outbox_position;

ALTER TABLE outbox ADD COLUMN position bigint;

ALTER TABLE outbox ALTER COLUMN position SET DEFAULT nextval('outbox_position');

ALTER SEQUENCE outbox_position OWNED BY outbox.position;

ALTER TABLE outbox ADD COLUMN log_position bigint;

CREATE UNIQUE INDEX outbox_log_position ON outbox (log_position);

CREATE INDEX outbox_unsequenced ON outbox (position) WHERE log_position IS NULL;

ALTER TABLE outbox_dispatch_cursor ADD COLUMN log_position bigint;

ALTER TABLE idempotency_markers ADD COLUMN created_time timestamptz;

-- Who leads a relay or a consumer: one process for each name, until its lease is over.
CREATE TABLE outbox_leases (
  name varchar(255) PRIMARY KEY,
  owner varchar(64) NOT NULL,
  lease_until timestamptz NOT NULL
);
