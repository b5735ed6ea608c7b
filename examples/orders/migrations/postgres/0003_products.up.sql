-- The table of the resource product, as its decorators describe it.
-- ashlar:allow prefer-bigint-over-int

CREATE TABLE "products" (
  "id" varchar(255) COLLATE "C" NOT NULL,
  "display_name" varchar(255) COLLATE "C" NOT NULL,
  "price_cents" bigint NOT NULL,
  "stock" integer NOT NULL,
  "update_time" timestamptz NOT NULL,
  "etag" varchar(64) COLLATE "C" NOT NULL,
  "account_id" varchar(255) COLLATE "C" NOT NULL,
  PRIMARY KEY ("account_id", "id")
);
