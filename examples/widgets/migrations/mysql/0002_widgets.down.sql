DROP TABLE `widgets`;
