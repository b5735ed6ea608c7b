DROP TABLE `orders`;
