-- The framework's own tables. Never edited once released: changes come as 8001 and up.
-- ashlar:allow prefer-identity

CREATE TABLE outbox (
  id varchar(36) NOT NULL,
  account_id text NOT NULL,
  aggregate_type text NOT NULL,
  aggregate_id text NOT NULL,
  event_type text NOT NULL,
  payload bytea,
  created_time timestamptz NOT NULL,
  event_seq bigint NOT NULL DEFAULT 0,
  event_epoch bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (id, created_time)
);

CREATE INDEX outbox_account_id ON outbox (account_id);

CREATE INDEX outbox_created_time ON outbox (created_time);

CREATE INDEX outbox_event_epoch ON outbox (event_epoch);

CREATE TABLE outbox_dispatch_cursor (
  name varchar(255) PRIMARY KEY,
  cursor_time timestamptz,
  cursor_id text,
  head_failures bigint NOT NULL DEFAULT 0
);

CREATE TABLE outbox_dead_letter (
  id bigserial PRIMARY KEY,
  cursor_name text,
  event_id text,
  event_type text,
  reason text,
  payload bytea,
  created_time timestamptz,
  recorded_at timestamptz
);

-- Marks of handlers that have seen an event.
CREATE TABLE idempotency_markers (
  key varchar(255) PRIMARY KEY
);

-- Answers that are replayed when a request comes twice. A claim lapses at lease_until, an answer at expires_at.
CREATE TABLE idempotency_keys (
  account_id varchar(255) NOT NULL,
  subject varchar(255) NOT NULL,
  method varchar(255) NOT NULL,
  request_id varchar(255) NOT NULL,
  status varchar(16) NOT NULL,
  response_type varchar(255),
  response bytea,
  fingerprint varchar(64),
  lease_until timestamptz,
  created_at timestamptz NOT NULL,
  expires_at timestamptz,
  PRIMARY KEY (account_id, subject, method, request_id)
);

CREATE INDEX idempotency_keys_expires_at ON idempotency_keys (expires_at);

CREATE TABLE tenant_fence (
  tenant_id varchar(255) PRIMARY KEY,
  owner_cell text,
  route_epoch bigint NOT NULL DEFAULT 0,
  sealed boolean NOT NULL DEFAULT false,
  barrier_epoch bigint NOT NULL DEFAULT 0,
  updated_at timestamptz
);

CREATE TABLE tenant_event_seq (
  account_id varchar(255) PRIMARY KEY,
  next_seq bigint NOT NULL DEFAULT 0
);

CREATE TABLE tenant_event_policy (
  tenant_id varchar(255) PRIMARY KEY,
  policy bigint NOT NULL DEFAULT 0,
  event_epoch bigint NOT NULL DEFAULT 0,
  updated_at timestamptz
);

-- Long-running operations (AIP-151). The host that works on one renews lease_until; past it the work counts as dead.
CREATE TABLE operations (
  name varchar(255) PRIMARY KEY,
  account_id varchar(255) NOT NULL,
  method varchar(255),
  status varchar(16) NOT NULL,
  metadata_type varchar(255),
  metadata bytea,
  response_type varchar(255),
  response bytea,
  error_code integer, -- ashlar:allow prefer-bigint-over-int
  error_message text,
  error_details bytea,
  cancel_requested boolean NOT NULL DEFAULT false,
  lease_owner varchar(64),
  lease_until timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  expires_at timestamptz
);

CREATE INDEX operations_account_id ON operations (account_id, name);

CREATE INDEX operations_expires_at ON operations (expires_at);
