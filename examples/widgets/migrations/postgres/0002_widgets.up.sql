-- The table of the resource widget, as its decorators describe it.
-- ashlar:allow prefer-bigint-over-int

CREATE TABLE "widgets" (
  "id" varchar(255) COLLATE "C" NOT NULL,
  "display_name" varchar(255) COLLATE "C" NOT NULL,
  "description" text COLLATE "C" NOT NULL,
  "size" integer NOT NULL,
  "price" double precision NOT NULL,
  "state" varchar(255) COLLATE "C" NOT NULL,
  "tags" jsonb NOT NULL,
  "create_time" timestamptz NOT NULL,
  "update_time" timestamptz NOT NULL,
  "etag" varchar(64) COLLATE "C" NOT NULL,
  "account_id" varchar(255) COLLATE "C" NOT NULL,
  "deleted_at" timestamptz,
  PRIMARY KEY ("account_id", "id")
);

CREATE INDEX "widgets_account_id_create_time_id_idx" ON "widgets" ("account_id", "create_time", "id");
