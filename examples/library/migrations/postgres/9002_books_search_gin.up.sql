CREATE INDEX CONCURRENTLY "books_search_vector_gin" ON "books" USING gin ("search_vector");
