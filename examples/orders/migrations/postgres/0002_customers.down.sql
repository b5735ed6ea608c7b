DROP TABLE "customers";
