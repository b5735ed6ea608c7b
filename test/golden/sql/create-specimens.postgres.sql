CREATE TABLE IF NOT EXISTS "specimens" (
  "id" varchar(255) COLLATE "C" NOT NULL,
  "title" varchar(100) COLLATE "C" NOT NULL,
  "note" text COLLATE "C",
  "active" boolean NOT NULL,
  "count" integer NOT NULL,
  "weight" bigint NOT NULL,
  "big" bigint NOT NULL,
  "huge" numeric(20) NOT NULL,
  "ratio" real NOT NULL,
  "score" double precision NOT NULL,
  "blob" bytea NOT NULL,
  "phase" varchar(255) COLLATE "C" NOT NULL,
  "due_time" timestamptz,
  "span" bigint,
  "labels" jsonb NOT NULL,
  "origin" jsonb,
  "tags" jsonb NOT NULL,
  "rank" integer,
  "code" varchar(255) COLLATE "C" NOT NULL,
  "serial" varchar(255) COLLATE "C" NOT NULL,
  "create_time" timestamptz NOT NULL,
  "update_time" timestamptz NOT NULL,
  "etag" varchar(64) COLLATE "C" NOT NULL,
  "webhook_secret_hash" varchar(255) COLLATE "C",
  "webhook_secret_cipher" text COLLATE "C",
  "api_key_public_id" varchar(255) COLLATE "C",
  "api_key_salt" varchar(255) COLLATE "C",
  "api_key_hash" varchar(255) COLLATE "C",
  "api_key_hashspec" varchar(255) COLLATE "C",
  "bin" varchar(255) COLLATE "C",
  "account_id" varchar(255) COLLATE "C" NOT NULL,
  "deleted_at" timestamptz,
  "expire_time" timestamptz,
  PRIMARY KEY ("account_id", "id")
);
CREATE UNIQUE INDEX IF NOT EXISTS "specimens_account_id_code_key" ON "specimens" ("account_id", "code") WHERE "deleted_at" IS NULL;
CREATE UNIQUE INDEX IF NOT EXISTS "specimens_api_key_public_id_key" ON "specimens" ("api_key_public_id");
CREATE INDEX IF NOT EXISTS "specimens_account_id_create_time_id_idx" ON "specimens" ("account_id", "create_time", "id");
CREATE INDEX IF NOT EXISTS "specimens_account_id_update_time_id_idx" ON "specimens" ("account_id", "update_time", "id");
CREATE INDEX IF NOT EXISTS "specimens_account_id_webhook_secret_hash_idx" ON "specimens" ("account_id", "webhook_secret_hash");
CREATE INDEX IF NOT EXISTS "specimens_expire_time_idx" ON "specimens" ("expire_time");
