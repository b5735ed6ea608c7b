DROP TABLE "shelves";
