DROP TABLE outbox_leases;

ALTER TABLE idempotency_markers DROP COLUMN created_time;

ALTER TABLE outbox_dispatch_cursor DROP COLUMN log_position;

ALTER TABLE outbox DROP COLUMN log_position;

ALTER TABLE outbox DROP COLUMN position;
