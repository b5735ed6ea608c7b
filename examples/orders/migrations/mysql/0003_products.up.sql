-- The table of the resource product, as its decorators describe it.

CREATE TABLE `products` (
  `id` varchar(255) NOT NULL,
  `display_name` varchar(255) NOT NULL,
  `price_cents` bigint NOT NULL,
  `stock` int NOT NULL,
  `update_time` datetime(6) NOT NULL,
  `etag` varchar(64) NOT NULL,
  `account_id` varchar(255) NOT NULL,
  PRIMARY KEY (`account_id`, `id`)
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE /*M! utf8mb4_nopad_bin */ /*!80000 utf8mb4_0900_bin */;
