DROP TABLE "widgets";
