-- The table of the resource widget, as its decorators describe it.

CREATE TABLE `widgets` (
  `id` varchar(255) NOT NULL,
  `display_name` varchar(255) NOT NULL,
  `description` longtext NOT NULL,
  `size` int NOT NULL,
  `price` double NOT NULL,
  `state` varchar(255) NOT NULL,
  `tags` json NOT NULL,
  `create_time` datetime(6) NOT NULL,
  `update_time` datetime(6) NOT NULL,
  `etag` varchar(64) NOT NULL,
  `account_id` varchar(255) NOT NULL,
  `deleted_at` datetime(6),
  PRIMARY KEY (`account_id`, `id`),
  KEY `widgets_account_id_create_time_id_idx` (`account_id`, `create_time`, `id`)
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE /*M! utf8mb4_nopad_bin */ /*!80000 utf8mb4_0900_bin */;
