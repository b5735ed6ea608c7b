-- The framework's own tables. Never edited once released: changes come as 8001 and up. Names compare by code point and
-- trailing spaces count, which is another collation on MariaDB than on MySQL.
-- ashlar:allow one-ddl-per-file

CREATE TABLE outbox (
  id varchar(36) NOT NULL,
  account_id varchar(255) NOT NULL,
  aggregate_type text NOT NULL,
  aggregate_id text NOT NULL,
  event_type text NOT NULL,
  payload longblob,
  created_time datetime(6) NOT NULL,
  event_seq bigint NOT NULL DEFAULT 0,
  event_epoch bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (id, created_time),
  KEY outbox_account_id (account_id),
  KEY outbox_created_time (created_time),
  KEY outbox_event_epoch (event_epoch)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=/*M! utf8mb4_nopad_bin */ /*!80000 utf8mb4_0900_bin */;

CREATE TABLE outbox_dispatch_cursor (
  name varchar(255) PRIMARY KEY,
  cursor_time datetime(6),
  cursor_id text,
  head_failures bigint NOT NULL DEFAULT 0
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=/*M! utf8mb4_nopad_bin */ /*!80000 utf8mb4_0900_bin */;

CREATE TABLE outbox_dead_letter (
  id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
  cursor_name text,
  event_id text,
  event_type text,
  reason text,
  payload longblob,
  created_time datetime(6),
  recorded_at datetime(6)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=/*M! utf8mb4_nopad_bin */ /*!80000 utf8mb4_0900_bin */;

-- Marks of handlers that have seen an event.
CREATE TABLE idempotency_markers (
  `key` varchar(255) PRIMARY KEY
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=/*M! utf8mb4_nopad_bin */ /*!80000 utf8mb4_0900_bin */;

-- Answers that are replayed when a request comes twice. A claim lapses at lease_until, an answer at expires_at. The key has
-- the longest columns that fit into an index.
CREATE TABLE idempotency_keys (
  account_id varbinary(768) NOT NULL,
  subject varbinary(768) NOT NULL,
  method varbinary(768) NOT NULL,
  request_id varbinary(768) NOT NULL,
  status varchar(16) NOT NULL,
  response_type varchar(255),
  response longblob,
  fingerprint varchar(64),
  lease_until datetime(6),
  created_at datetime(6) NOT NULL,
  expires_at datetime(6),
  PRIMARY KEY (account_id, subject, method, request_id),
  KEY idempotency_keys_expires_at (expires_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=/*M! utf8mb4_nopad_bin */ /*!80000 utf8mb4_0900_bin */;

CREATE TABLE tenant_fence (
  tenant_id varchar(255) PRIMARY KEY,
  owner_cell text,
  route_epoch bigint NOT NULL DEFAULT 0,
  sealed boolean NOT NULL DEFAULT false,
  barrier_epoch bigint NOT NULL DEFAULT 0,
  updated_at datetime(6)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=/*M! utf8mb4_nopad_bin */ /*!80000 utf8mb4_0900_bin */;

CREATE TABLE tenant_event_seq (
  account_id varchar(255) PRIMARY KEY,
  next_seq bigint NOT NULL DEFAULT 0
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=/*M! utf8mb4_nopad_bin */ /*!80000 utf8mb4_0900_bin */;

CREATE TABLE tenant_event_policy (
  tenant_id varchar(255) PRIMARY KEY,
  policy bigint NOT NULL DEFAULT 0,
  event_epoch bigint NOT NULL DEFAULT 0,
  updated_at datetime(6)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=/*M! utf8mb4_nopad_bin */ /*!80000 utf8mb4_0900_bin */;

-- Long-running operations (AIP-151). The host that works on one renews lease_until; past it the work counts as dead.
CREATE TABLE operations (
  name varchar(255) PRIMARY KEY,
  account_id varchar(255) NOT NULL,
  method varchar(255),
  status varchar(16) NOT NULL,
  metadata_type varchar(255),
  metadata longblob,
  response_type varchar(255),
  response longblob,
  error_code int,
  error_message text,
  error_details longblob,
  cancel_requested boolean NOT NULL DEFAULT false,
  lease_owner varchar(64),
  lease_until datetime(6),
  created_at datetime(6) NOT NULL,
  updated_at datetime(6) NOT NULL,
  expires_at datetime(6),
  KEY operations_account_id (account_id, name),
  KEY operations_expires_at (expires_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=/*M! utf8mb4_nopad_bin */ /*!80000 utf8mb4_0900_bin */;
