-- get
SELECT "name", "text", "stars" FROM "notes" WHERE "name" = $1;

-- get, deleted or not
SELECT "name", "text", "stars" FROM "notes" WHERE "name" = $1;

-- get, locked
SELECT "name", "text", "stars" FROM "notes" WHERE "name" = $1 FOR UPDATE NOWAIT;

-- get, locked for share
SELECT "name", "text", "stars" FROM "notes" WHERE "name" = $1 FOR SHARE;

-- insert
INSERT INTO "notes" ("name", "text", "stars") VALUES ($1, $2, $3) RETURNING "name", "text", "stars";

-- update
UPDATE "notes" SET "text" = $1 WHERE "name" = $2 RETURNING "name", "text", "stars";

-- delete
DELETE FROM "notes" WHERE "name" = $1;

-- batchGet
SELECT "name", "text", "stars" FROM "notes" WHERE "name" = ANY($1::text[]);

-- batchUpdate
WITH l AS MATERIALIZED (SELECT k.*, r.tenant FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS k(key, v0, o) CROSS JOIN LATERAL (SELECT 1 AS tenant FROM "notes" WHERE "name" = k.key FOR UPDATE) r) UPDATE "notes" t SET "text" = l.v0 FROM l WHERE t."name" = l.key RETURNING l.o, t."name", t."text", t."stars";

-- batchUpdate, values shared
WITH l AS MATERIALIZED (SELECT k.*, r.tenant FROM unnest($1::text[]) WITH ORDINALITY AS k(key, o) CROSS JOIN LATERAL (SELECT 1 AS tenant FROM "notes" WHERE "name" = k.key FOR UPDATE) r) UPDATE "notes" t SET "text" = $2 FROM l WHERE t."name" = l.key RETURNING l.o, t."name", t."text", t."stars";

-- batchDelete
WITH l AS MATERIALIZED (SELECT k.*, r.tenant FROM unnest($1::text[]) WITH ORDINALITY AS k(key, o) CROSS JOIN LATERAL (SELECT 1 AS tenant FROM "notes" WHERE "name" = k.key FOR UPDATE) r) DELETE FROM "notes" t USING l WHERE t."name" = l.key;

-- list
SELECT "name", "text", "stars" FROM "notes" LIMIT 51;
