DROP INDEX CONCURRENTLY IF EXISTS "books_search_vector_gin";
