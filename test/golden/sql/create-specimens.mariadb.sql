CREATE TABLE IF NOT EXISTS `specimens` (
  `id` varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
  `title` varchar(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
  `note` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin,
  `active` tinyint(1) NOT NULL,
  `count` int NOT NULL,
  `weight` int unsigned NOT NULL,
  `big` bigint NOT NULL,
  `huge` bigint unsigned NOT NULL,
  `ratio` float NOT NULL,
  `score` double NOT NULL,
  `blob` longblob NOT NULL,
  `phase` varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
  `due_time` datetime(6),
  `span` bigint,
  `labels` json NOT NULL,
  `origin` json,
  `tags` json NOT NULL,
  `rank` int,
  `code` varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
  `serial` varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
  `create_time` datetime(6) NOT NULL,
  `update_time` datetime(6) NOT NULL,
  `etag` varchar(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
  `webhook_secret_hash` varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin,
  `webhook_secret_cipher` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin,
  `api_key_public_id` varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin,
  `api_key_salt` varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin,
  `api_key_hash` varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin,
  `api_key_hashspec` varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin,
  `bin` varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin,
  `account_id` varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
  `deleted_at` datetime(6),
  `expire_time` datetime(6),
  `soft_delete_key` varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL DEFAULT '',
  PRIMARY KEY (`account_id`, `id`)
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4;
CREATE UNIQUE INDEX IF NOT EXISTS `specimens_account_id_code_key` ON `specimens` (`account_id`, `code`, `soft_delete_key`);
CREATE UNIQUE INDEX IF NOT EXISTS `specimens_api_key_public_id_key` ON `specimens` (`api_key_public_id`);
CREATE INDEX IF NOT EXISTS `specimens_account_id_create_time_id_idx` ON `specimens` (`account_id`, `create_time`, `id`);
CREATE INDEX IF NOT EXISTS `specimens_account_id_update_time_id_idx` ON `specimens` (`account_id`, `update_time`, `id`);
CREATE INDEX IF NOT EXISTS `specimens_account_id_webhook_secret_hash_idx` ON `specimens` (`account_id`, `webhook_secret_hash`);
CREATE INDEX IF NOT EXISTS `specimens_expire_time_idx` ON `specimens` (`expire_time`);
