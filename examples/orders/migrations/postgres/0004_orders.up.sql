-- The table of the resource order, as its decorators describe it.

CREATE TABLE "orders" (
  "id" varchar(255) COLLATE "C" NOT NULL,
  "customer_id" varchar(255) COLLATE "C" NOT NULL,
  "note" varchar(255) COLLATE "C" NOT NULL,
  "state" varchar(255) COLLATE "C" NOT NULL,
  "total_cents" bigint NOT NULL,
  "placed_by" varchar(255) COLLATE "C" NOT NULL,
  "approved_by" varchar(255) COLLATE "C" NOT NULL,
  "create_time" timestamptz NOT NULL,
  "etag" varchar(64) COLLATE "C" NOT NULL,
  "account_id" varchar(255) COLLATE "C" NOT NULL,
  PRIMARY KEY ("account_id", "id"),
  CONSTRAINT "orders_account_id_customer_id_fkey" FOREIGN KEY ("account_id", "customer_id") REFERENCES "customers" ("account_id", "id") ON DELETE NO ACTION
);

CREATE INDEX "orders_account_id_create_time_id_idx" ON "orders" ("account_id", "create_time", "id");

CREATE INDEX "orders_account_id_customer_id_create_time_idx" ON "orders" ("account_id", "customer_id", "create_time");

CREATE INDEX "orders_account_id_customer_id_idx" ON "orders" ("account_id", "customer_id");
