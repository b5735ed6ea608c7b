CREATE TABLE IF NOT EXISTS `widgets` (
  `id` varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
  `display_name` varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
  `description` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
  `size` int NOT NULL,
  `price` double NOT NULL,
  `state` varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
  `tags` json NOT NULL,
  `create_time` datetime(6) NOT NULL,
  `update_time` datetime(6) NOT NULL,
  `etag` varchar(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
  `account_id` varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
  `deleted_at` datetime(6),
  PRIMARY KEY (`account_id`, `id`)
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4;
CREATE INDEX IF NOT EXISTS `widgets_account_id_create_time_id_idx` ON `widgets` (`account_id`, `create_time`, `id`);
