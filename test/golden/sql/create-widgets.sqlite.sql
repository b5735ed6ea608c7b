CREATE TABLE IF NOT EXISTS `widgets` (
  `id` TEXT COLLATE BINARY NOT NULL,
  `display_name` TEXT COLLATE BINARY NOT NULL,
  `description` TEXT COLLATE BINARY NOT NULL,
  `size` INTEGER NOT NULL,
  `price` REAL NOT NULL,
  `state` TEXT COLLATE BINARY NOT NULL,
  `tags` TEXT NOT NULL,
  `create_time` TEXT NOT NULL,
  `update_time` TEXT NOT NULL,
  `etag` TEXT COLLATE BINARY NOT NULL,
  `account_id` TEXT COLLATE BINARY NOT NULL,
  `deleted_at` TEXT,
  PRIMARY KEY (`account_id`, `id`)
);
CREATE INDEX IF NOT EXISTS `widgets_account_id_create_time_id_idx` ON `widgets` (`account_id`, `create_time`, `id`);
