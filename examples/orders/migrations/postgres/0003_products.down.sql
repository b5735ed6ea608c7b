DROP TABLE "products";
