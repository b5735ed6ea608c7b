DROP TABLE `customers`;
