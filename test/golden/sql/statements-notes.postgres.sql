-- get
SELECT "name", "text", "stars" FROM "notes" WHERE "name" = $1;

-- get, deleted or not
SELECT "name", "text", "stars" FROM "notes" WHERE "name" = $1;

-- insert
INSERT INTO "notes" ("name", "text", "stars") VALUES ($1, $2, $3) RETURNING "name", "text", "stars";

-- update
UPDATE "notes" SET "text" = $1 WHERE "name" = $2 RETURNING "name", "text", "stars";

-- delete
DELETE FROM "notes" WHERE "name" = $1;

-- batchGet
SELECT "name", "text", "stars" FROM "notes" WHERE "name" IN ($1, $2);

-- batchUpdate
WITH l AS MATERIALIZED (SELECT "name" AS key FROM "notes" WHERE "name" = ANY($1::text[]) ORDER BY "name" FOR UPDATE) UPDATE "notes" t SET "text" = k.v0 FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS k(key, v0, o) JOIN l ON l.key = k.key WHERE t."name" = k.key RETURNING k.o, t."name", t."text", t."stars";

-- batchDelete
WITH l AS MATERIALIZED (SELECT "name" AS key FROM "notes" WHERE "name" = ANY($1::text[]) ORDER BY "name" FOR UPDATE) DELETE FROM "notes" t USING l WHERE t."name" = l.key;

-- list
SELECT "name", "text", "stars" FROM "notes" LIMIT 51;
