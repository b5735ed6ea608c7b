DROP TABLE "books";
