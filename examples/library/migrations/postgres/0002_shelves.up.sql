-- The table of the resource shelf, as its decorators describe it.

CREATE TABLE "shelves" (
  "id" varchar(255) COLLATE "C" NOT NULL,
  "theme" varchar(255) COLLATE "C" NOT NULL,
  "account_id" varchar(255) COLLATE "C" NOT NULL,
  PRIMARY KEY ("account_id", "id")
);
