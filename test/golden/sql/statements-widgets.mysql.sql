-- get
SELECT `id`, `display_name`, `description`, `size`, `price`, `state`, `tags`, `create_time`, `update_time`, `etag`, `account_id`, `deleted_at` FROM `widgets` WHERE `id` = ? AND `account_id` = ? AND `deleted_at` IS NULL;

-- get, deleted or not
SELECT `id`, `display_name`, `description`, `size`, `price`, `state`, `tags`, `create_time`, `update_time`, `etag`, `account_id`, `deleted_at` FROM `widgets` WHERE `id` = ? AND `account_id` = ?;

-- get, if it matches
SELECT `id`, `display_name`, `description`, `size`, `price`, `state`, `tags`, `create_time`, `update_time`, `etag`, `account_id`, `deleted_at` FROM `widgets` WHERE `id` = ? AND `account_id` = ? AND `etag` = ? AND `deleted_at` IS NULL;

-- get, locked
SELECT `id`, `display_name`, `description`, `size`, `price`, `state`, `tags`, `create_time`, `update_time`, `etag`, `account_id`, `deleted_at` FROM `widgets` WHERE `id` = ? AND `account_id` = ? AND `deleted_at` IS NULL FOR UPDATE NOWAIT;

-- get, locked for share
SELECT `id`, `display_name`, `description`, `size`, `price`, `state`, `tags`, `create_time`, `update_time`, `etag`, `account_id`, `deleted_at` FROM `widgets` WHERE `id` = ? AND `account_id` = ? AND `deleted_at` IS NULL LOCK IN SHARE MODE;

-- get, by the system
SELECT `id`, `display_name`, `description`, `size`, `price`, `state`, `tags`, `create_time`, `update_time`, `etag`, `account_id`, `deleted_at` FROM `widgets` WHERE `id` = ? AND `deleted_at` IS NULL;

-- tenantsOf
SELECT `account_id` FROM `widgets` WHERE `id` = ? LIMIT 2;

-- insert
INSERT INTO `widgets` (`id`, `display_name`, `description`, `size`, `price`, `state`, `tags`, `create_time`, `update_time`, `etag`, `account_id`, `deleted_at`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- update
UPDATE `widgets` SET `display_name` = ?, `etag` = ?, `update_time` = GREATEST(COALESCE(`update_time`, CAST('1000-01-01' AS DATETIME)), CAST(? AS DATETIME(6))), `deleted_at` = ? WHERE `id` = ? AND `account_id` = ? AND `deleted_at` IS NULL;

-- update, if it matches
UPDATE `widgets` SET `display_name` = ?, `etag` = ?, `update_time` = GREATEST(COALESCE(`update_time`, CAST('1000-01-01' AS DATETIME)), CAST(? AS DATETIME(6))), `deleted_at` = ? WHERE `id` = ? AND `account_id` = ? AND `etag` = ? AND `deleted_at` IS NULL;

-- delete
UPDATE `widgets` SET `etag` = ?, `update_time` = GREATEST(COALESCE(`update_time`, CAST('1000-01-01' AS DATETIME)), CAST(? AS DATETIME(6))), `deleted_at` = ? WHERE `id` = ? AND `account_id` = ? AND `deleted_at` IS NULL;

-- delete, if it matches
UPDATE `widgets` SET `etag` = ?, `update_time` = GREATEST(COALESCE(`update_time`, CAST('1000-01-01' AS DATETIME)), CAST(? AS DATETIME(6))), `deleted_at` = ? WHERE `id` = ? AND `account_id` = ? AND `etag` = ? AND `deleted_at` IS NULL;

-- undelete
UPDATE `widgets` SET `etag` = ?, `update_time` = GREATEST(COALESCE(`update_time`, CAST('1000-01-01' AS DATETIME)), CAST(? AS DATETIME(6))), `deleted_at` = ? WHERE `id` = ? AND `account_id` = ? AND `deleted_at` IS NOT NULL;

-- batchGet
SELECT `id`, `display_name`, `description`, `size`, `price`, `state`, `tags`, `create_time`, `update_time`, `etag`, `account_id`, `deleted_at` FROM `widgets` WHERE `account_id` = ? AND `id` IN (?, ?) AND `deleted_at` IS NULL;

-- list
SELECT `id`, `display_name`, `description`, `size`, `price`, `state`, `tags`, `create_time`, `update_time`, `etag`, `account_id`, `deleted_at` FROM `widgets` WHERE `deleted_at` IS NULL LIMIT 51;
