-- A position is drawn by the INSERT, while the row of the resource is locked. The sequencer gives committed rows their place in
-- the log. The tables may be those of the Go framework, which have fewer columns and may have rows.
-- ashlar:allow require-concurrent-index-creation, backfill-with-ddl, adding-not-null-field
CREATE SEQUENCE outbox_position;

ALTER TABLE outbox ADD COLUMN position bigint;

ALTER TABLE outbox ADD COLUMN log_position bigint;

UPDATE outbox SET account_id = COALESCE(account_id, ''), aggregate_type = COALESCE(aggregate_type, ''),
  aggregate_id = COALESCE(aggregate_id, ''), event_type = COALESCE(event_type, ''),
  event_seq = COALESCE(event_seq, 0), event_epoch = COALESCE(event_epoch, 0)
  WHERE account_id IS NULL OR aggregate_type IS NULL OR aggregate_id IS NULL OR event_type IS NULL
  OR event_seq IS NULL OR event_epoch IS NULL;

-- Existing events keep their order and come before all others. Those that a dispatch cursor has passed were sent: their place is
-- before the beginning of the log, where no relay reads. A cursor without an id has passed all events of its time.
UPDATE outbox SET position = existing.place, log_position = CASE WHEN existing.is_sent THEN existing.place END
  FROM (
    SELECT id, created_time, ROW_NUMBER() OVER (ORDER BY created_time, id) - COUNT(*) OVER () - 1 AS place, EXISTS (
      SELECT 1 FROM outbox_dispatch_cursor AS cursor_row
      WHERE event.created_time < cursor_row.cursor_time OR (
        event.created_time = cursor_row.cursor_time
        AND (COALESCE(cursor_row.cursor_id, '') = '' OR event.id <= cursor_row.cursor_id)
      )
    ) AS is_sent
    FROM outbox AS event
  ) AS existing
  WHERE outbox.id = existing.id AND outbox.created_time = existing.created_time;

ALTER TABLE outbox_dead_letter ADD COLUMN IF NOT EXISTS payload bytea;

-- A dead letter without recorded_at would wait for a retry.
UPDATE outbox_dead_letter SET recorded_at = COALESCE(created_time, now()) WHERE recorded_at IS NULL;

-- What one cursor has passed and another has not is listed, and not sent again.
INSERT INTO outbox_dead_letter (cursor_name, event_id, event_type, reason, payload, created_time, recorded_at)
  SELECT cursor_row.name, outbox.id, outbox.event_type,
    'another dispatch cursor had sent this event before the upgrade, and this one had not', outbox.payload, outbox.created_time, now()
  FROM outbox_dispatch_cursor AS cursor_row
  JOIN outbox ON outbox.log_position < 0 AND (
    cursor_row.cursor_time IS NULL OR outbox.created_time > cursor_row.cursor_time OR (
      outbox.created_time = cursor_row.cursor_time AND cursor_row.cursor_id <> '' AND outbox.id > cursor_row.cursor_id
    )
  );

ALTER TABLE outbox ALTER COLUMN position SET DEFAULT nextval('outbox_position');

ALTER SEQUENCE outbox_position OWNED BY outbox.position;

ALTER TABLE outbox ALTER COLUMN account_id SET NOT NULL, ALTER COLUMN aggregate_type SET NOT NULL,
  ALTER COLUMN aggregate_id SET NOT NULL, ALTER COLUMN event_type SET NOT NULL,
  ALTER COLUMN event_seq SET NOT NULL, ALTER COLUMN event_epoch SET NOT NULL;

CREATE UNIQUE INDEX outbox_log_position ON outbox (log_position);

CREATE INDEX outbox_unsequenced ON outbox (position) WHERE log_position IS NULL;

CREATE INDEX IF NOT EXISTS outbox_account_id ON outbox (account_id);

CREATE INDEX IF NOT EXISTS outbox_created_time ON outbox (created_time);

CREATE INDEX IF NOT EXISTS outbox_event_epoch ON outbox (event_epoch);

ALTER TABLE outbox_dispatch_cursor ADD COLUMN log_position bigint;

UPDATE outbox_dispatch_cursor SET head_failures = 0 WHERE head_failures IS NULL;

ALTER TABLE outbox_dispatch_cursor ALTER COLUMN head_failures SET DEFAULT 0, ALTER COLUMN head_failures SET NOT NULL;

ALTER TABLE idempotency_markers ADD COLUMN created_time timestamptz;

ALTER TABLE idempotency_keys ADD COLUMN IF NOT EXISTS lease_until timestamptz;

-- Responses of another framework are replayed to no call: their subject is not known. They end at expires_at.
DO $$
DECLARE key_name text;
BEGIN
  IF EXISTS (
    SELECT 1 FROM pg_attribute WHERE attrelid = 'idempotency_keys'::regclass AND attname = 'subject' AND NOT attisdropped
  ) THEN RETURN; END IF;
  ALTER TABLE idempotency_keys ADD COLUMN subject varchar(255) NOT NULL DEFAULT '';
  UPDATE idempotency_keys SET status = 'upgraded';
  SELECT conname INTO key_name FROM pg_constraint WHERE conrelid = 'idempotency_keys'::regclass AND contype = 'p';
  IF key_name IS NOT NULL THEN EXECUTE format('ALTER TABLE idempotency_keys DROP CONSTRAINT %I', key_name); END IF;
  ALTER TABLE idempotency_keys ALTER COLUMN subject DROP DEFAULT, ALTER COLUMN expires_at DROP NOT NULL;
  ALTER TABLE idempotency_keys ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (account_id, subject, method, request_id);
END $$;

CREATE INDEX IF NOT EXISTS idempotency_keys_expires_at ON idempotency_keys (expires_at);

-- Who leads a relay or a consumer: one process for each name, until its lease is over.
CREATE TABLE outbox_leases (
  name varchar(255) PRIMARY KEY,
  owner varchar(64) NOT NULL,
  lease_until timestamptz NOT NULL
);
