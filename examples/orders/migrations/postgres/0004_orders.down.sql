DROP TABLE "orders";
