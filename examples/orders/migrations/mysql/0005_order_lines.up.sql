-- The table of the resource order_line, as its decorators describe it.

CREATE TABLE `order_lines` (
  `id` varchar(255) NOT NULL,
  `order_id` varchar(255) NOT NULL,
  `product_id` varchar(255) NOT NULL,
  `quantity` int NOT NULL,
  `price_cents` bigint NOT NULL,
  `account_id` varchar(255) NOT NULL,
  PRIMARY KEY (`account_id`, `id`),
  UNIQUE KEY `order_lines_account_id_order_id_product_id_key` (`account_id`, `order_id`, `product_id`),
  KEY `order_lines_account_id_order_id_idx` (`account_id`, `order_id`),
  KEY `order_lines_account_id_product_id_idx` (`account_id`, `product_id`),
  CONSTRAINT `order_lines_account_id_order_id_fkey` FOREIGN KEY (`account_id`, `order_id`) REFERENCES `orders` (`account_id`, `id`) ON DELETE NO ACTION,
  CONSTRAINT `order_lines_account_id_product_id_fkey` FOREIGN KEY (`account_id`, `product_id`) REFERENCES `products` (`account_id`, `id`) ON DELETE NO ACTION
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE /*M! utf8mb4_nopad_bin */ /*!80000 utf8mb4_0900_bin */;
