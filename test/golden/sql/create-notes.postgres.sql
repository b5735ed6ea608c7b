CREATE TABLE IF NOT EXISTS "notes" (
  "name" varchar(255) COLLATE "C" NOT NULL,
  "text" varchar(255) COLLATE "C" NOT NULL,
  "stars" integer NOT NULL,
  PRIMARY KEY ("name")
);
