-- The table of the resource order_line, as its decorators describe it.
-- ashlar:allow prefer-bigint-over-int

CREATE TABLE "order_lines" (
  "id" varchar(255) COLLATE "C" NOT NULL,
  "order_id" varchar(255) COLLATE "C" NOT NULL,
  "product_id" varchar(255) COLLATE "C" NOT NULL,
  "quantity" integer NOT NULL,
  "price_cents" bigint NOT NULL,
  "account_id" varchar(255) COLLATE "C" NOT NULL,
  PRIMARY KEY ("account_id", "id"),
  CONSTRAINT "order_lines_account_id_order_id_fkey" FOREIGN KEY ("account_id", "order_id") REFERENCES "orders" ("account_id", "id") ON DELETE NO ACTION,
  CONSTRAINT "order_lines_account_id_product_id_fkey" FOREIGN KEY ("account_id", "product_id") REFERENCES "products" ("account_id", "id") ON DELETE NO ACTION
);

CREATE UNIQUE INDEX "order_lines_account_id_order_id_product_id_key" ON "order_lines" ("account_id", "order_id", "product_id");

CREATE INDEX "order_lines_account_id_order_id_idx" ON "order_lines" ("account_id", "order_id");

CREATE INDEX "order_lines_account_id_product_id_idx" ON "order_lines" ("account_id", "product_id");
