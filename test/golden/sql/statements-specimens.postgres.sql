-- get
SELECT "id", "title", "note", "active", "count", "weight", "big", "huge", encode(float8send("ratio"), 'hex') AS "(hex)", encode(float8send("score"), 'hex') AS "(hex)", encode("blob", 'hex') AS "(hex)", "phase", "due_time", "span", "labels", "origin", "tags", "rank", "code", "serial", "create_time", "update_time", "etag", "bin", "account_id", "deleted_at", "expire_time" FROM "specimens" WHERE "id" = $1 AND "account_id" = $2 AND "deleted_at" IS NULL;

-- get, deleted or not
SELECT "id", "title", "note", "active", "count", "weight", "big", "huge", encode(float8send("ratio"), 'hex') AS "(hex)", encode(float8send("score"), 'hex') AS "(hex)", encode("blob", 'hex') AS "(hex)", "phase", "due_time", "span", "labels", "origin", "tags", "rank", "code", "serial", "create_time", "update_time", "etag", "bin", "account_id", "deleted_at", "expire_time" FROM "specimens" WHERE "id" = $1 AND "account_id" = $2;

-- get, if it matches
SELECT "id", "title", "note", "active", "count", "weight", "big", "huge", encode(float8send("ratio"), 'hex') AS "(hex)", encode(float8send("score"), 'hex') AS "(hex)", encode("blob", 'hex') AS "(hex)", "phase", "due_time", "span", "labels", "origin", "tags", "rank", "code", "serial", "create_time", "update_time", "etag", "bin", "account_id", "deleted_at", "expire_time" FROM "specimens" WHERE "id" = $1 AND "account_id" = $2 AND "etag" = $3 AND "deleted_at" IS NULL;

-- get, locked
SELECT "id", "title", "note", "active", "count", "weight", "big", "huge", encode(float8send("ratio"), 'hex') AS "(hex)", encode(float8send("score"), 'hex') AS "(hex)", encode("blob", 'hex') AS "(hex)", "phase", "due_time", "span", "labels", "origin", "tags", "rank", "code", "serial", "create_time", "update_time", "etag", "bin", "account_id", "deleted_at", "expire_time" FROM "specimens" WHERE "id" = $1 AND "account_id" = $2 AND "deleted_at" IS NULL FOR UPDATE NOWAIT;

-- get, locked for share
SELECT "id", "title", "note", "active", "count", "weight", "big", "huge", encode(float8send("ratio"), 'hex') AS "(hex)", encode(float8send("score"), 'hex') AS "(hex)", encode("blob", 'hex') AS "(hex)", "phase", "due_time", "span", "labels", "origin", "tags", "rank", "code", "serial", "create_time", "update_time", "etag", "bin", "account_id", "deleted_at", "expire_time" FROM "specimens" WHERE "id" = $1 AND "account_id" = $2 AND "deleted_at" IS NULL FOR SHARE;

-- get, by the system
SELECT "id", "title", "note", "active", "count", "weight", "big", "huge", encode(float8send("ratio"), 'hex') AS "(hex)", encode(float8send("score"), 'hex') AS "(hex)", encode("blob", 'hex') AS "(hex)", "phase", "due_time", "span", "labels", "origin", "tags", "rank", "code", "serial", "create_time", "update_time", "etag", "bin", "account_id", "deleted_at", "expire_time" FROM "specimens" WHERE "id" = $1 AND "deleted_at" IS NULL;

-- tenantsOf
SELECT "account_id" FROM "specimens" WHERE "id" = $1 LIMIT 2;

-- insert
INSERT INTO "specimens" ("id", "title", "note", "active", "count", "weight", "big", "huge", "ratio", "score", "blob", "phase", "due_time", "span", "labels", "origin", "tags", "rank", "code", "serial", "create_time", "update_time", "etag", "webhook_secret_hash", "webhook_secret_cipher", "api_key_public_id", "api_key_salt", "api_key_hash", "api_key_hashspec", "bin", "account_id", "deleted_at", "expire_time") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33) RETURNING "id", "title", "note", "active", "count", "weight", "big", "huge", encode(float8send("ratio"), 'hex') AS "(hex)", encode(float8send("score"), 'hex') AS "(hex)", encode("blob", 'hex') AS "(hex)", "phase", "due_time", "span", "labels", "origin", "tags", "rank", "code", "serial", "create_time", "update_time", "etag", "bin", "account_id", "deleted_at", "expire_time";

-- update
UPDATE "specimens" SET "title" = $1, "etag" = $2, "update_time" = GREATEST("update_time", $3), "deleted_at" = $4 WHERE "id" = $5 AND "account_id" = $6 AND "deleted_at" IS NULL RETURNING "id", "title", "note", "active", "count", "weight", "big", "huge", encode(float8send("ratio"), 'hex') AS "(hex)", encode(float8send("score"), 'hex') AS "(hex)", encode("blob", 'hex') AS "(hex)", "phase", "due_time", "span", "labels", "origin", "tags", "rank", "code", "serial", "create_time", "update_time", "etag", "bin", "account_id", "deleted_at", "expire_time";

-- update, if it matches
UPDATE "specimens" SET "title" = $1, "etag" = $2, "update_time" = GREATEST("update_time", $3), "deleted_at" = $4 WHERE "id" = $5 AND "account_id" = $6 AND "etag" = $7 AND "deleted_at" IS NULL RETURNING "id", "title", "note", "active", "count", "weight", "big", "huge", encode(float8send("ratio"), 'hex') AS "(hex)", encode(float8send("score"), 'hex') AS "(hex)", encode("blob", 'hex') AS "(hex)", "phase", "due_time", "span", "labels", "origin", "tags", "rank", "code", "serial", "create_time", "update_time", "etag", "bin", "account_id", "deleted_at", "expire_time";

-- delete
UPDATE "specimens" SET "etag" = $1, "update_time" = GREATEST("update_time", $2), "deleted_at" = $3 WHERE "id" = $4 AND "account_id" = $5 AND "deleted_at" IS NULL;

-- delete, if it matches
UPDATE "specimens" SET "etag" = $1, "update_time" = GREATEST("update_time", $2), "deleted_at" = $3 WHERE "id" = $4 AND "account_id" = $5 AND "etag" = $6 AND "deleted_at" IS NULL;

-- undelete
UPDATE "specimens" SET "etag" = $1, "update_time" = GREATEST("update_time", $2), "deleted_at" = $3 WHERE "id" = $4 AND "account_id" = $5 AND "deleted_at" IS NOT NULL RETURNING "id", "title", "note", "active", "count", "weight", "big", "huge", encode(float8send("ratio"), 'hex') AS "(hex)", encode(float8send("score"), 'hex') AS "(hex)", encode("blob", 'hex') AS "(hex)", "phase", "due_time", "span", "labels", "origin", "tags", "rank", "code", "serial", "create_time", "update_time", "etag", "bin", "account_id", "deleted_at", "expire_time";

-- batchGet
SELECT "id", "title", "note", "active", "count", "weight", "big", "huge", encode(float8send("ratio"), 'hex') AS "(hex)", encode(float8send("score"), 'hex') AS "(hex)", encode("blob", 'hex') AS "(hex)", "phase", "due_time", "span", "labels", "origin", "tags", "rank", "code", "serial", "create_time", "update_time", "etag", "bin", "account_id", "deleted_at", "expire_time" FROM "specimens" WHERE "account_id" = $1 AND "id" = ANY($2::text[]) AND "deleted_at" IS NULL;

-- batchUpdate
WITH l AS MATERIALIZED (SELECT k.*, r.tenant FROM unnest($2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::timestamptz[]) WITH ORDINALITY AS k(key, v0, v1, v2, v3, o) CROSS JOIN LATERAL (SELECT "account_id" AS tenant FROM "specimens" WHERE "id" = k.key AND "account_id" = (SELECT $1::text) AND "deleted_at" IS NULL FOR UPDATE) r) UPDATE "specimens" t SET "title" = l.v0, "etag" = l.v1, "update_time" = GREATEST(t."update_time", l.v2), "deleted_at" = l.v3 FROM l WHERE t."id" = l.key AND t."account_id" = l.tenant RETURNING l.o, t."id", t."title", t."note", t."active", t."count", t."weight", t."big", t."huge", encode(float8send(t."ratio"), 'hex') AS "(hex)", encode(float8send(t."score"), 'hex') AS "(hex)", encode(t."blob", 'hex') AS "(hex)", t."phase", t."due_time", t."span", t."labels", t."origin", t."tags", t."rank", t."code", t."serial", t."create_time", t."update_time", t."etag", t."bin", t."account_id", t."deleted_at", t."expire_time";

-- batchUpdate, values shared
WITH l AS MATERIALIZED (SELECT k.*, r.tenant FROM unnest($2::text[]) WITH ORDINALITY AS k(key, o) CROSS JOIN LATERAL (SELECT "account_id" AS tenant FROM "specimens" WHERE "id" = k.key AND "account_id" = (SELECT $1::text) AND "deleted_at" IS NULL FOR UPDATE) r) UPDATE "specimens" t SET "title" = $3, "etag" = $4, "update_time" = GREATEST(t."update_time", $5), "deleted_at" = $6 FROM l WHERE t."id" = l.key AND t."account_id" = l.tenant RETURNING l.o, t."id", t."title", t."note", t."active", t."count", t."weight", t."big", t."huge", encode(float8send(t."ratio"), 'hex') AS "(hex)", encode(float8send(t."score"), 'hex') AS "(hex)", encode(t."blob", 'hex') AS "(hex)", t."phase", t."due_time", t."span", t."labels", t."origin", t."tags", t."rank", t."code", t."serial", t."create_time", t."update_time", t."etag", t."bin", t."account_id", t."deleted_at", t."expire_time";

-- batchDelete
WITH l AS MATERIALIZED (SELECT k.*, r.tenant FROM unnest($2::text[]) WITH ORDINALITY AS k(key, o) CROSS JOIN LATERAL (SELECT "account_id" AS tenant FROM "specimens" WHERE "id" = k.key AND "account_id" = (SELECT $1::text) AND "deleted_at" IS NULL FOR UPDATE) r) UPDATE "specimens" t SET "etag" = $3, "update_time" = GREATEST(t."update_time", $4), "deleted_at" = $5 FROM l WHERE t."id" = l.key AND t."account_id" = l.tenant;

-- find by api_key_public_id
SELECT "id", "title", "note", "active", "count", "weight", "big", "huge", encode(float8send("ratio"), 'hex') AS "(hex)", encode(float8send("score"), 'hex') AS "(hex)", encode("blob", 'hex') AS "(hex)", "phase", "due_time", "span", "labels", "origin", "tags", "rank", "code", "serial", "create_time", "update_time", "etag", "webhook_secret_hash", "webhook_secret_cipher", "api_key_public_id", "api_key_salt", "api_key_hash", "api_key_hashspec", "bin", "account_id", "deleted_at", "expire_time" FROM "specimens" WHERE "api_key_public_id" = $1 AND "deleted_at" IS NULL ORDER BY "id" LIMIT 2;

-- find by webhook_secret_hash
SELECT "id", "title", "note", "active", "count", "weight", "big", "huge", encode(float8send("ratio"), 'hex') AS "(hex)", encode(float8send("score"), 'hex') AS "(hex)", encode("blob", 'hex') AS "(hex)", "phase", "due_time", "span", "labels", "origin", "tags", "rank", "code", "serial", "create_time", "update_time", "etag", "webhook_secret_hash", "webhook_secret_cipher", "api_key_public_id", "api_key_salt", "api_key_hash", "api_key_hashspec", "bin", "account_id", "deleted_at", "expire_time" FROM "specimens" WHERE "webhook_secret_hash" = $1 AND "account_id" = $2 AND "deleted_at" IS NULL ORDER BY "id" LIMIT 2;

-- purge
DELETE FROM "specimens" WHERE ("account_id", "id") IN (WITH chosen AS MATERIALIZED (SELECT "account_id", "id" FROM "specimens" WHERE "expire_time" <= $1 AND "account_id" = $2 LIMIT $3 FOR UPDATE) SELECT * FROM chosen);

-- list
SELECT "id", "title", "note", "active", "count", "weight", "big", "huge", encode(float8send("ratio"), 'hex') AS "(hex)", encode(float8send("score"), 'hex') AS "(hex)", encode("blob", 'hex') AS "(hex)", "phase", "due_time", "span", "labels", "origin", "tags", "rank", "code", "serial", "create_time", "update_time", "etag", "bin", "account_id", "deleted_at", "expire_time" FROM "specimens" WHERE "deleted_at" IS NULL LIMIT 51;
