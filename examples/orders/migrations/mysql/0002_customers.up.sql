-- The table of the resource customer, as its decorators describe it.

CREATE TABLE `customers` (
  `id` varchar(255) NOT NULL,
  `display_name` varchar(255) NOT NULL,
  `email` varchar(255) NOT NULL,
  `create_time` datetime(6) NOT NULL,
  `etag` varchar(64) NOT NULL,
  `account_id` varchar(255) NOT NULL,
  PRIMARY KEY (`account_id`, `id`),
  UNIQUE KEY `customers_account_id_email_key` (`account_id`, `email`)
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE /*M! utf8mb4_nopad_bin */ /*!80000 utf8mb4_0900_bin */;
