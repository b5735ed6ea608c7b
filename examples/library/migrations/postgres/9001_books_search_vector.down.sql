ALTER TABLE "books" DROP COLUMN IF EXISTS "search_vector";
