-- A position is drawn by the INSERT, while the row of the resource is locked. The sequencer gives committed rows their place in
-- the log. Nothing of the framework has written these tables before. Names compare by code point and trailing spaces count, which
-- is another collation on MariaDB than on MySQL.
-- ashlar:allow adding-auto-increment-column, one-ddl-per-file
ALTER TABLE outbox
  ADD COLUMN position bigint NOT NULL AUTO_INCREMENT,
  ADD COLUMN log_position bigint,
  ADD UNIQUE KEY outbox_position (position),
  ADD UNIQUE KEY outbox_log_position (log_position),
  ADD KEY outbox_unsequenced (log_position, position);

ALTER TABLE outbox_dispatch_cursor ADD COLUMN log_position bigint;

ALTER TABLE idempotency_markers ADD COLUMN created_time datetime(6);

-- Who leads a relay or a consumer: one process for each name, until its lease is over.
CREATE TABLE outbox_leases (
  name varchar(255) PRIMARY KEY,
  owner varchar(64) NOT NULL,
  lease_until datetime(6) NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=/*M! utf8mb4_nopad_bin */ /*!80000 utf8mb4_0900_bin */;
