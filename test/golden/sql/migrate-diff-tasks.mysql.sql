-- 0003_next_add_to_tasks.down.sql
ALTER TABLE `tasks`
  DROP COLUMN `priority`,
  DROP COLUMN `display_name`;

-- 0003_next_add_to_tasks.up.sql
ALTER TABLE `tasks`
  ADD COLUMN `display_name` varchar(100) CHARACTER SET utf8mb4 COLLATE /*M! utf8mb4_nopad_bin */ /*!80000 utf8mb4_0900_bin */,
  ADD COLUMN `priority` int NOT NULL DEFAULT 3,
  ALGORITHM=INSTANT;

-- 0004_next_default_tasks.down.sql
ALTER TABLE `tasks`
  ALTER COLUMN `colour` DROP DEFAULT,
  ALTER COLUMN `title` DROP DEFAULT;

-- 0004_next_default_tasks.up.sql
ALTER TABLE `tasks`
  ALTER COLUMN `title` SET DEFAULT '',
  ALTER COLUMN `colour` SET DEFAULT '',
  ALGORITHM=INSTANT;

-- 0005_next_mirror_tasks_display_name_insert.down.sql
DROP TRIGGER IF EXISTS `tasks_display_name_mirror_insert`;

-- 0005_next_mirror_tasks_display_name_insert.up.sql
CREATE TRIGGER IF NOT EXISTS `tasks_display_name_mirror_insert` BEFORE INSERT ON `tasks` FOR EACH ROW
SET NEW.`display_name` = COALESCE(NEW.`display_name`, NEW.`title`),
  NEW.`title` = NEW.`display_name`;

-- 0006_next_mirror_tasks_display_name_update.down.sql
DROP TRIGGER IF EXISTS `tasks_display_name_mirror_update`;

-- 0006_next_mirror_tasks_display_name_update.up.sql
CREATE TRIGGER IF NOT EXISTS `tasks_display_name_mirror_update` BEFORE UPDATE ON `tasks` FOR EACH ROW
SET NEW.`display_name` = IF(NEW.`display_name` <=> OLD.`display_name` AND (NEW.`display_name` IS NULL OR NOT (NEW.`title` <=> OLD.`title`)), NEW.`title`, NEW.`display_name`),
  NEW.`title` = NEW.`display_name`;

-- 0007_next_fill_tasks.down.sql
-- nothing to undo: its changes are removed with the migration before it

-- 0007_next_fill_tasks.up.sql
-- ashlar:backfill chunk=1000
UPDATE `tasks` SET `display_name` = `title`
WHERE `display_name` IS NULL AND `title` IS NOT NULL;

-- 0008_next_index_tasks_account_id_note_idx.down.sql
ALTER TABLE `tasks`
  DROP KEY `tasks_account_id_note_idx`,
  ALGORITHM=INPLACE, LOCK=NONE;

-- 0008_next_index_tasks_account_id_note_idx.up.sql
ALTER TABLE `tasks`
  ADD KEY `tasks_account_id_note_idx` (`account_id`, `note`),
  ALGORITHM=INPLACE, LOCK=NONE;

-- 0009_end_require_tasks_display_name.down.sql
ALTER TABLE `tasks`
  MODIFY `display_name` varchar(100) CHARACTER SET utf8mb4 COLLATE /*M! utf8mb4_nopad_bin */ /*!80000 utf8mb4_0900_bin */ NULL;

-- 0009_end_require_tasks_display_name.up.sql
ALTER TABLE `tasks`
  MODIFY `display_name` varchar(100) CHARACTER SET utf8mb4 COLLATE /*M! utf8mb4_nopad_bin */ /*!80000 utf8mb4_0900_bin */ NOT NULL,
  ALGORITHM=INPLACE, LOCK=NONE;

-- 0010_end_drop_mirror_tasks_display_name_update.down.sql
CREATE TRIGGER IF NOT EXISTS `tasks_display_name_mirror_update` BEFORE UPDATE ON `tasks` FOR EACH ROW
SET NEW.`display_name` = IF(NEW.`display_name` <=> OLD.`display_name` AND (NEW.`display_name` IS NULL OR NOT (NEW.`title` <=> OLD.`title`)), NEW.`title`, NEW.`display_name`),
  NEW.`title` = NEW.`display_name`;

UPDATE `tasks` SET `title` = `display_name`
WHERE NOT (CAST(`title` AS BINARY) <=> CAST(`display_name` AS BINARY));

-- 0010_end_drop_mirror_tasks_display_name_update.up.sql
DROP TRIGGER IF EXISTS `tasks_display_name_mirror_update`;

-- 0011_end_drop_mirror_tasks_display_name_insert.down.sql
CREATE TRIGGER IF NOT EXISTS `tasks_display_name_mirror_insert` BEFORE INSERT ON `tasks` FOR EACH ROW
SET NEW.`display_name` = COALESCE(NEW.`display_name`, NEW.`title`),
  NEW.`title` = NEW.`display_name`;

-- 0011_end_drop_mirror_tasks_display_name_insert.up.sql
DROP TRIGGER IF EXISTS `tasks_display_name_mirror_insert`;

-- 0012_end_drop_tasks_title.down.sql
ALTER TABLE `tasks`
  ADD COLUMN `title` varchar(100) CHARACTER SET utf8mb4 COLLATE /*M! utf8mb4_nopad_bin */ /*!80000 utf8mb4_0900_bin */ NOT NULL DEFAULT '';

UPDATE `tasks` SET `title` = `display_name`;

-- 0012_end_drop_tasks_title.up.sql
-- ashlar:allow ban-drop-column
-- no running image uses it, and the values of tasks.title are no longer needed
ALTER TABLE `tasks`
  DROP COLUMN `title`,
  ALGORITHM=INSTANT;

-- 0013_end_drop_tasks_colour.down.sql
ALTER TABLE `tasks`
  ADD COLUMN `colour` varchar(255) CHARACTER SET utf8mb4 COLLATE /*M! utf8mb4_nopad_bin */ /*!80000 utf8mb4_0900_bin */ NOT NULL DEFAULT '';

-- 0013_end_drop_tasks_colour.up.sql
-- ashlar:allow ban-drop-column
-- no running image uses it, and the values of tasks.colour are no longer needed
ALTER TABLE `tasks`
  DROP COLUMN `colour`,
  ALGORITHM=INSTANT;
