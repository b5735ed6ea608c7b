-- 0003_next_add_to_tasks.down.sql
ALTER TABLE "tasks"
  DROP COLUMN "priority",
  DROP COLUMN "display_name";

-- 0003_next_add_to_tasks.up.sql
-- ashlar:allow prefer-bigint-over-int
ALTER TABLE "tasks"
  ADD COLUMN "display_name" varchar(100) COLLATE "C",
  ADD COLUMN "priority" integer NOT NULL DEFAULT 3;

-- 0004_next_default_tasks.down.sql
ALTER TABLE "tasks"
  ALTER COLUMN "colour" DROP DEFAULT,
  ALTER COLUMN "title" DROP DEFAULT;

-- 0004_next_default_tasks.up.sql
ALTER TABLE "tasks"
  ALTER COLUMN "title" SET DEFAULT '',
  ALTER COLUMN "colour" SET DEFAULT '';

-- 0005_next_mirror_tasks_display_name.down.sql
DROP TRIGGER "tasks_display_name_mirror" ON "tasks";

DROP FUNCTION "tasks_display_name_mirror"();

-- 0005_next_mirror_tasks_display_name.up.sql
CREATE OR REPLACE FUNCTION "tasks_display_name_mirror"() RETURNS trigger LANGUAGE plpgsql AS $mirror$
BEGIN
  IF TG_OP = 'INSERT' THEN
    NEW."display_name" := COALESCE(NEW."display_name", NEW."title");
    NEW."title" := NEW."display_name";
  ELSIF NEW."display_name" IS DISTINCT FROM OLD."display_name" THEN
    NEW."title" := NEW."display_name";
  ELSIF NEW."title" IS DISTINCT FROM OLD."title" OR NEW."display_name" IS NULL THEN
    NEW."display_name" := NEW."title";
  END IF;
  RETURN NEW;
END
$mirror$;

CREATE TRIGGER "tasks_display_name_mirror" BEFORE INSERT OR UPDATE ON "tasks" FOR EACH ROW EXECUTE FUNCTION "tasks_display_name_mirror"();

-- 0006_next_fill_tasks.down.sql
-- nothing to undo: its changes are removed with the migration before it

-- 0006_next_fill_tasks.up.sql
-- ashlar:backfill chunk=1000
UPDATE "tasks" SET "display_name" = "title"
WHERE "display_name" IS NULL AND "title" IS NOT NULL;

-- 0007_next_index_tasks_account_id_note_idx.down.sql
DROP INDEX CONCURRENTLY "tasks_account_id_note_idx";

-- 0007_next_index_tasks_account_id_note_idx.up.sql
CREATE INDEX CONCURRENTLY "tasks_account_id_note_idx" ON "tasks" ("account_id", "note");

-- 0008_end_check_tasks_display_name_not_null.down.sql
ALTER TABLE "tasks"
  DROP CONSTRAINT "tasks_display_name_not_null";

-- 0008_end_check_tasks_display_name_not_null.up.sql
ALTER TABLE "tasks"
  ADD CONSTRAINT "tasks_display_name_not_null" CHECK ("display_name" IS NOT NULL) NOT VALID;

-- 0009_end_require_tasks_display_name.down.sql
ALTER TABLE "tasks"
  ADD CONSTRAINT "tasks_display_name_not_null" CHECK ("display_name" IS NOT NULL) NOT VALID,
  ALTER COLUMN "display_name" DROP NOT NULL;

-- 0009_end_require_tasks_display_name.up.sql
ALTER TABLE "tasks"
  VALIDATE CONSTRAINT "tasks_display_name_not_null";

ALTER TABLE "tasks"
  ALTER COLUMN "display_name" SET NOT NULL;

ALTER TABLE "tasks"
  DROP CONSTRAINT "tasks_display_name_not_null";

-- 0010_end_drop_mirror_tasks_display_name.down.sql
CREATE OR REPLACE FUNCTION "tasks_display_name_mirror"() RETURNS trigger LANGUAGE plpgsql AS $mirror$
BEGIN
  IF TG_OP = 'INSERT' THEN
    NEW."display_name" := COALESCE(NEW."display_name", NEW."title");
    NEW."title" := NEW."display_name";
  ELSIF NEW."display_name" IS DISTINCT FROM OLD."display_name" THEN
    NEW."title" := NEW."display_name";
  ELSIF NEW."title" IS DISTINCT FROM OLD."title" OR NEW."display_name" IS NULL THEN
    NEW."display_name" := NEW."title";
  END IF;
  RETURN NEW;
END
$mirror$;

CREATE TRIGGER "tasks_display_name_mirror" BEFORE INSERT OR UPDATE ON "tasks" FOR EACH ROW EXECUTE FUNCTION "tasks_display_name_mirror"();

UPDATE "tasks" SET "title" = "display_name"
WHERE "title" IS DISTINCT FROM "display_name" COLLATE "C";

-- 0010_end_drop_mirror_tasks_display_name.up.sql
DROP TRIGGER "tasks_display_name_mirror" ON "tasks";

DROP FUNCTION "tasks_display_name_mirror"();

-- 0011_end_drop_tasks_title.down.sql
ALTER TABLE "tasks"
  ADD COLUMN "title" character varying(100) COLLATE "C" NOT NULL DEFAULT '';

UPDATE "tasks" SET "title" = "display_name";

-- 0011_end_drop_tasks_title.up.sql
-- ashlar:allow ban-drop-column
-- no running image uses it, and the values of tasks.title are no longer needed
ALTER TABLE "tasks"
  DROP COLUMN "title";

-- 0012_end_drop_tasks_colour.down.sql
ALTER TABLE "tasks"
  ADD COLUMN "colour" character varying(255) COLLATE "C" NOT NULL DEFAULT '';

-- 0012_end_drop_tasks_colour.up.sql
-- ashlar:allow ban-drop-column
-- no running image uses it, and the values of tasks.colour are no longer needed
ALTER TABLE "tasks"
  DROP COLUMN "colour";
