-- The table of the resource customer, as its decorators describe it.

CREATE TABLE "customers" (
  "id" varchar(255) COLLATE "C" NOT NULL,
  "display_name" varchar(255) COLLATE "C" NOT NULL,
  "email" varchar(255) COLLATE "C" NOT NULL,
  "create_time" timestamptz NOT NULL,
  "etag" varchar(64) COLLATE "C" NOT NULL,
  "account_id" varchar(255) COLLATE "C" NOT NULL,
  PRIMARY KEY ("account_id", "id")
);

CREATE UNIQUE INDEX "customers_account_id_email_key" ON "customers" ("account_id", "email");
