CREATE TABLE IF NOT EXISTS `specimens` (
  `id` TEXT COLLATE BINARY NOT NULL,
  `title` TEXT COLLATE BINARY NOT NULL,
  `note` TEXT COLLATE BINARY,
  `active` INTEGER NOT NULL,
  `count` INTEGER NOT NULL,
  `weight` INTEGER NOT NULL,
  `big` INTEGER NOT NULL,
  `huge` INTEGER NOT NULL,
  `ratio` REAL NOT NULL,
  `score` REAL NOT NULL,
  `blob` BLOB NOT NULL,
  `phase` TEXT COLLATE BINARY NOT NULL,
  `due_time` TEXT,
  `span` INTEGER,
  `labels` TEXT NOT NULL,
  `origin` TEXT,
  `tags` TEXT NOT NULL,
  `rank` INTEGER,
  `code` TEXT COLLATE BINARY NOT NULL,
  `serial` TEXT COLLATE BINARY NOT NULL,
  `create_time` TEXT NOT NULL,
  `update_time` TEXT NOT NULL,
  `etag` TEXT COLLATE BINARY NOT NULL,
  `webhook_secret_hash` TEXT COLLATE BINARY,
  `webhook_secret_cipher` TEXT COLLATE BINARY,
  `api_key_public_id` TEXT COLLATE BINARY,
  `api_key_salt` TEXT COLLATE BINARY,
  `api_key_hash` TEXT COLLATE BINARY,
  `api_key_hashspec` TEXT COLLATE BINARY,
  `bin` TEXT COLLATE BINARY,
  `account_id` TEXT COLLATE BINARY NOT NULL,
  `deleted_at` TEXT,
  `expire_time` TEXT,
  PRIMARY KEY (`account_id`, `id`)
);
CREATE UNIQUE INDEX IF NOT EXISTS `specimens_account_id_code_key` ON `specimens` (`account_id`, `code`) WHERE `deleted_at` IS NULL;
CREATE UNIQUE INDEX IF NOT EXISTS `specimens_api_key_public_id_key` ON `specimens` (`api_key_public_id`);
CREATE INDEX IF NOT EXISTS `specimens_account_id_create_time_id_idx` ON `specimens` (`account_id`, `create_time`, `id`);
CREATE INDEX IF NOT EXISTS `specimens_account_id_update_time_id_idx` ON `specimens` (`account_id`, `update_time`, `id`);
CREATE INDEX IF NOT EXISTS `specimens_account_id_webhook_secret_hash_idx` ON `specimens` (`account_id`, `webhook_secret_hash`);
CREATE INDEX IF NOT EXISTS `specimens_expire_time_idx` ON `specimens` (`expire_time`);
