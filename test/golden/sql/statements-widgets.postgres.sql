-- get
SELECT "id", "display_name", "description", "size", encode(float8send("price"), 'hex') AS "(hex)", "state", "tags", "create_time", "update_time", "etag", "account_id", "deleted_at" FROM "widgets" WHERE "id" = $1 AND "account_id" = $2 AND "deleted_at" IS NULL;

-- get, deleted or not
SELECT "id", "display_name", "description", "size", encode(float8send("price"), 'hex') AS "(hex)", "state", "tags", "create_time", "update_time", "etag", "account_id", "deleted_at" FROM "widgets" WHERE "id" = $1 AND "account_id" = $2;

-- get, if it matches
SELECT "id", "display_name", "description", "size", encode(float8send("price"), 'hex') AS "(hex)", "state", "tags", "create_time", "update_time", "etag", "account_id", "deleted_at" FROM "widgets" WHERE "id" = $1 AND "account_id" = $2 AND "etag" = $3 AND "deleted_at" IS NULL;

-- get, locked
SELECT "id", "display_name", "description", "size", encode(float8send("price"), 'hex') AS "(hex)", "state", "tags", "create_time", "update_time", "etag", "account_id", "deleted_at" FROM "widgets" WHERE "id" = $1 AND "account_id" = $2 AND "deleted_at" IS NULL FOR UPDATE NOWAIT;

-- get, locked for share
SELECT "id", "display_name", "description", "size", encode(float8send("price"), 'hex') AS "(hex)", "state", "tags", "create_time", "update_time", "etag", "account_id", "deleted_at" FROM "widgets" WHERE "id" = $1 AND "account_id" = $2 AND "deleted_at" IS NULL FOR SHARE;

-- get, by the system
SELECT "id", "display_name", "description", "size", encode(float8send("price"), 'hex') AS "(hex)", "state", "tags", "create_time", "update_time", "etag", "account_id", "deleted_at" FROM "widgets" WHERE "id" = $1 AND "deleted_at" IS NULL;

-- tenantsOf
SELECT "account_id" FROM "widgets" WHERE "id" = $1 LIMIT 2;

-- insert
INSERT INTO "widgets" ("id", "display_name", "description", "size", "price", "state", "tags", "create_time", "update_time", "etag", "account_id", "deleted_at") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) RETURNING "id", "display_name", "description", "size", encode(float8send("price"), 'hex') AS "(hex)", "state", "tags", "create_time", "update_time", "etag", "account_id", "deleted_at";

-- update
UPDATE "widgets" SET "display_name" = $1, "etag" = $2, "update_time" = GREATEST("update_time", $3), "deleted_at" = $4 WHERE "id" = $5 AND "account_id" = $6 AND "deleted_at" IS NULL RETURNING "id", "display_name", "description", "size", encode(float8send("price"), 'hex') AS "(hex)", "state", "tags", "create_time", "update_time", "etag", "account_id", "deleted_at";

-- update, if it matches
UPDATE "widgets" SET "display_name" = $1, "etag" = $2, "update_time" = GREATEST("update_time", $3), "deleted_at" = $4 WHERE "id" = $5 AND "account_id" = $6 AND "etag" = $7 AND "deleted_at" IS NULL RETURNING "id", "display_name", "description", "size", encode(float8send("price"), 'hex') AS "(hex)", "state", "tags", "create_time", "update_time", "etag", "account_id", "deleted_at";

-- delete
UPDATE "widgets" SET "etag" = $1, "update_time" = GREATEST("update_time", $2), "deleted_at" = $3 WHERE "id" = $4 AND "account_id" = $5 AND "deleted_at" IS NULL;

-- delete, if it matches
UPDATE "widgets" SET "etag" = $1, "update_time" = GREATEST("update_time", $2), "deleted_at" = $3 WHERE "id" = $4 AND "account_id" = $5 AND "etag" = $6 AND "deleted_at" IS NULL;

-- undelete
UPDATE "widgets" SET "etag" = $1, "update_time" = GREATEST("update_time", $2), "deleted_at" = $3 WHERE "id" = $4 AND "account_id" = $5 AND "deleted_at" IS NOT NULL RETURNING "id", "display_name", "description", "size", encode(float8send("price"), 'hex') AS "(hex)", "state", "tags", "create_time", "update_time", "etag", "account_id", "deleted_at";

-- batchGet
SELECT "id", "display_name", "description", "size", encode(float8send("price"), 'hex') AS "(hex)", "state", "tags", "create_time", "update_time", "etag", "account_id", "deleted_at" FROM "widgets" WHERE "account_id" = $1 AND "id" = ANY($2::text[]) AND "deleted_at" IS NULL;

-- batchUpdate
WITH l AS MATERIALIZED (SELECT k.*, r.tenant FROM unnest($2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::timestamptz[]) WITH ORDINALITY AS k(key, v0, v1, v2, v3, o) CROSS JOIN LATERAL (SELECT "account_id" AS tenant FROM "widgets" WHERE "id" = k.key AND "account_id" = (SELECT $1::text) AND "deleted_at" IS NULL FOR UPDATE) r) UPDATE "widgets" t SET "display_name" = l.v0, "etag" = l.v1, "update_time" = GREATEST(t."update_time", l.v2), "deleted_at" = l.v3 FROM l WHERE t."id" = l.key AND t."account_id" = l.tenant RETURNING l.o, t."id", t."display_name", t."description", t."size", encode(float8send(t."price"), 'hex') AS "(hex)", t."state", t."tags", t."create_time", t."update_time", t."etag", t."account_id", t."deleted_at";

-- batchUpdate, values shared
WITH l AS MATERIALIZED (SELECT k.*, r.tenant FROM unnest($2::text[]) WITH ORDINALITY AS k(key, o) CROSS JOIN LATERAL (SELECT "account_id" AS tenant FROM "widgets" WHERE "id" = k.key AND "account_id" = (SELECT $1::text) AND "deleted_at" IS NULL FOR UPDATE) r) UPDATE "widgets" t SET "display_name" = $3, "etag" = $4, "update_time" = GREATEST(t."update_time", $5), "deleted_at" = $6 FROM l WHERE t."id" = l.key AND t."account_id" = l.tenant RETURNING l.o, t."id", t."display_name", t."description", t."size", encode(float8send(t."price"), 'hex') AS "(hex)", t."state", t."tags", t."create_time", t."update_time", t."etag", t."account_id", t."deleted_at";

-- batchDelete
WITH l AS MATERIALIZED (SELECT k.*, r.tenant FROM unnest($2::text[]) WITH ORDINALITY AS k(key, o) CROSS JOIN LATERAL (SELECT "account_id" AS tenant FROM "widgets" WHERE "id" = k.key AND "account_id" = (SELECT $1::text) AND "deleted_at" IS NULL FOR UPDATE) r) UPDATE "widgets" t SET "etag" = $3, "update_time" = GREATEST(t."update_time", $4), "deleted_at" = $5 FROM l WHERE t."id" = l.key AND t."account_id" = l.tenant;

-- list
SELECT "id", "display_name", "description", "size", encode(float8send("price"), 'hex') AS "(hex)", "state", "tags", "create_time", "update_time", "etag", "account_id", "deleted_at" FROM "widgets" WHERE "deleted_at" IS NULL LIMIT 51;
