DROP TABLE `products`;
