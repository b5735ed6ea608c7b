-- The table of the resource book, as its decorators describe it.

CREATE TABLE "books" (
  "id" varchar(255) COLLATE "C" NOT NULL,
  "shelf_id" varchar(255) COLLATE "C" NOT NULL,
  "author" varchar(255) COLLATE "C" NOT NULL,
  "title" varchar(255) COLLATE "C" NOT NULL,
  "read" boolean NOT NULL,
  "etag" varchar(64) COLLATE "C" NOT NULL,
  "account_id" varchar(255) COLLATE "C" NOT NULL,
  PRIMARY KEY ("account_id", "id"),
  CONSTRAINT "books_account_id_shelf_id_fkey" FOREIGN KEY ("account_id", "shelf_id") REFERENCES "shelves" ("account_id", "id") ON DELETE NO ACTION
);

CREATE INDEX "books_account_id_shelf_id_idx" ON "books" ("account_id", "shelf_id");
