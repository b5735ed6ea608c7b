-- The table of the resource order, as its decorators describe it.

CREATE TABLE `orders` (
  `id` varchar(255) NOT NULL,
  `customer` varchar(255) NOT NULL,
  `note` varchar(255) NOT NULL,
  `state` varchar(255) NOT NULL,
  `total_cents` bigint NOT NULL,
  `placed_by` varchar(255) NOT NULL,
  `approved_by` varchar(255) NOT NULL,
  `create_time` datetime(6) NOT NULL,
  `etag` varchar(64) NOT NULL,
  `account_id` varchar(255) NOT NULL,
  PRIMARY KEY (`account_id`, `id`),
  KEY `orders_account_id_create_time_id_idx` (`account_id`, `create_time`, `id`)
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE /*M! utf8mb4_nopad_bin */ /*!80000 utf8mb4_0900_bin */;
