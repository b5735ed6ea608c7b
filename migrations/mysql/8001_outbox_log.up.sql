-- A position is drawn by the INSERT, while the row of the resource is locked. The sequencer gives committed rows their place in
-- the log. The tables may be those of the Go framework, which have fewer columns, other types and collations, and may have rows.
-- A column or key that an upgrade adds on its own may exist. Names compare by code point and trailing spaces count, which is
-- another collation on MariaDB than on MySQL.
-- ashlar:allow adding-auto-increment-column, adding-primary-key-constraint, changing-column-type, one-ddl-per-file
-- ashlar:allow rebuilding-a-table, unrecoverable-statement
UPDATE outbox SET account_id = COALESCE(account_id, ''), aggregate_type = COALESCE(aggregate_type, ''),
  aggregate_id = COALESCE(aggregate_id, ''), event_type = COALESCE(event_type, ''),
  event_seq = COALESCE(event_seq, 0), event_epoch = COALESCE(event_epoch, 0);

ALTER TABLE outbox
  CONVERT TO CHARACTER SET utf8mb4 COLLATE /*M! utf8mb4_nopad_bin */ /*!80000 utf8mb4_0900_bin */,
  MODIFY id varchar(36) NOT NULL,
  MODIFY account_id varchar(255) NOT NULL,
  MODIFY aggregate_type text NOT NULL,
  MODIFY aggregate_id text NOT NULL,
  MODIFY event_type text NOT NULL,
  MODIFY payload longblob,
  MODIFY created_time datetime(6) NOT NULL,
  MODIFY event_seq bigint NOT NULL DEFAULT 0,
  MODIFY event_epoch bigint NOT NULL DEFAULT 0,
  ADD COLUMN position bigint NOT NULL AUTO_INCREMENT,
  ADD COLUMN log_position bigint,
  ADD UNIQUE KEY outbox_position (position),
  ADD UNIQUE KEY outbox_log_position (log_position),
  ADD KEY outbox_unsequenced (log_position, position);

ALTER TABLE outbox ADD KEY outbox_account_id (account_id);

ALTER TABLE outbox ADD KEY outbox_created_time (created_time);

ALTER TABLE outbox ADD KEY outbox_event_epoch (event_epoch);

UPDATE outbox_dispatch_cursor SET head_failures = 0 WHERE head_failures IS NULL;

ALTER TABLE outbox_dispatch_cursor
  CONVERT TO CHARACTER SET utf8mb4 COLLATE /*M! utf8mb4_nopad_bin */ /*!80000 utf8mb4_0900_bin */,
  MODIFY cursor_time datetime(6),
  MODIFY head_failures bigint NOT NULL DEFAULT 0,
  ADD COLUMN log_position bigint;

ALTER TABLE outbox_dead_letter ADD COLUMN payload longblob;

ALTER TABLE outbox_dead_letter
  CONVERT TO CHARACTER SET utf8mb4 COLLATE /*M! utf8mb4_nopad_bin */ /*!80000 utf8mb4_0900_bin */,
  MODIFY created_time datetime(6),
  MODIFY recorded_at datetime(6);

-- A dead letter without recorded_at would wait for a retry.
UPDATE outbox_dead_letter SET recorded_at = COALESCE(created_time, UTC_TIMESTAMP(6)) WHERE recorded_at IS NULL;

-- Existing events keep their order and come before all others. Those that a dispatch cursor has passed were sent: their place is
-- before the beginning of the log, where no relay reads. A cursor without an id has passed all events of its time.
UPDATE outbox JOIN (
    SELECT id, created_time, -CAST(ROW_NUMBER() OVER (ORDER BY created_time DESC, id DESC) AS SIGNED) AS place, EXISTS (
      SELECT 1 FROM outbox_dispatch_cursor AS cursor_row
      WHERE event.created_time < cursor_row.cursor_time OR (
        event.created_time = cursor_row.cursor_time
        AND (COALESCE(cursor_row.cursor_id, '') = '' OR event.id <= cursor_row.cursor_id)
      )
    ) AS is_sent
    FROM outbox AS event
  ) AS existing ON outbox.id = existing.id AND outbox.created_time = existing.created_time
  SET outbox.position = existing.place, outbox.log_position = CASE WHEN existing.is_sent THEN existing.place END;

-- What one cursor has passed and another has not is listed, and not sent again.
INSERT INTO outbox_dead_letter (cursor_name, event_id, event_type, reason, payload, created_time, recorded_at)
  SELECT cursor_row.name, outbox.id, outbox.event_type,
    'another dispatch cursor had sent this event before the upgrade, and this one had not',
    outbox.payload, outbox.created_time, UTC_TIMESTAMP(6)
  FROM outbox_dispatch_cursor AS cursor_row
  JOIN outbox ON outbox.log_position < 0 AND (
    cursor_row.cursor_time IS NULL OR outbox.created_time > cursor_row.cursor_time OR (
      outbox.created_time = cursor_row.cursor_time AND cursor_row.cursor_id <> '' AND outbox.id > cursor_row.cursor_id
    )
  );

ALTER TABLE idempotency_markers
  CONVERT TO CHARACTER SET utf8mb4 COLLATE /*M! utf8mb4_nopad_bin */ /*!80000 utf8mb4_0900_bin */,
  ADD COLUMN created_time datetime(6);

ALTER TABLE idempotency_keys ADD COLUMN lease_until datetime(6);

ALTER TABLE idempotency_keys ADD COLUMN subject varbinary(768) NOT NULL DEFAULT '';

-- Responses of another framework are replayed to no call: their subject is not known. They end at expires_at.
UPDATE idempotency_keys SET status = 'upgraded';

ALTER TABLE idempotency_keys
  CONVERT TO CHARACTER SET utf8mb4 COLLATE /*M! utf8mb4_nopad_bin */ /*!80000 utf8mb4_0900_bin */,
  MODIFY account_id varbinary(768) NOT NULL,
  MODIFY subject varbinary(768) NOT NULL,
  MODIFY method varbinary(768) NOT NULL,
  MODIFY request_id varbinary(768) NOT NULL,
  MODIFY status varchar(16) NOT NULL,
  MODIFY response_type varchar(255),
  MODIFY response longblob,
  MODIFY fingerprint varchar(64),
  MODIFY lease_until datetime(6),
  MODIFY created_at datetime(6) NOT NULL,
  MODIFY expires_at datetime(6),
  DROP PRIMARY KEY,
  ADD PRIMARY KEY (account_id, subject, method, request_id);

ALTER TABLE idempotency_keys ADD KEY idempotency_keys_expires_at (expires_at);

ALTER TABLE tenant_fence
  CONVERT TO CHARACTER SET utf8mb4 COLLATE /*M! utf8mb4_nopad_bin */ /*!80000 utf8mb4_0900_bin */;

ALTER TABLE tenant_event_seq
  CONVERT TO CHARACTER SET utf8mb4 COLLATE /*M! utf8mb4_nopad_bin */ /*!80000 utf8mb4_0900_bin */;

ALTER TABLE tenant_event_policy
  CONVERT TO CHARACTER SET utf8mb4 COLLATE /*M! utf8mb4_nopad_bin */ /*!80000 utf8mb4_0900_bin */;

-- Who leads a relay or a consumer: one process for each name, until its lease is over.
CREATE TABLE outbox_leases (
  name varchar(255) PRIMARY KEY,
  owner varchar(64) NOT NULL,
  lease_until datetime(6) NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=/*M! utf8mb4_nopad_bin */ /*!80000 utf8mb4_0900_bin */;
