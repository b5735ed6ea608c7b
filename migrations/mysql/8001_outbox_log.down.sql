-- ashlar:allow one-ddl-per-file
DROP TABLE outbox_leases;

ALTER TABLE idempotency_markers DROP COLUMN created_time;

ALTER TABLE outbox_dispatch_cursor DROP COLUMN log_position;

ALTER TABLE outbox
  DROP KEY outbox_unsequenced,
  DROP KEY outbox_log_position,
  DROP COLUMN log_position,
  DROP COLUMN position;
