-- The table of the resource order, as its decorators describe it.

CREATE TABLE `orders` (
  `id` varchar(255) NOT NULL,
  `customer_id` varchar(255) NOT NULL,
  `note` varchar(255) NOT NULL,
  `state` varchar(255) NOT NULL,
  `total_cents` bigint NOT NULL,
  `placed_by` varchar(255) NOT NULL,
  `approved_by` varchar(255) NOT NULL,
  `create_time` datetime(6) NOT NULL,
  `etag` varchar(64) NOT NULL,
  `account_id` varchar(255) NOT NULL,
  PRIMARY KEY (`account_id`, `id`),
  KEY `orders_account_id_create_time_id_idx` (`account_id`, `create_time`, `id`),
  KEY `orders_account_id_customer_id_create_time_idx` (`account_id`, `customer_id`, `create_time`),
  KEY `orders_account_id_customer_id_idx` (`account_id`, `customer_id`),
  CONSTRAINT `orders_account_id_customer_id_fkey` FOREIGN KEY (`account_id`, `customer_id`) REFERENCES `customers` (`account_id`, `id`) ON DELETE NO ACTION
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE /*M! utf8mb4_nopad_bin */ /*!80000 utf8mb4_0900_bin */;
