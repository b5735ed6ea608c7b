-- 9001_articles_search_vector.down.sql
ALTER TABLE "articles" DROP COLUMN IF EXISTS "search_vector";

-- 9001_articles_search_vector.up.sql
-- ashlar:allow adding-search-vector
-- the table is written anew under a lock: on a large one in a quiet hour, with a longer statement timeout
ALTER TABLE "articles" ADD COLUMN "search_vector" tsvector GENERATED ALWAYS AS (to_tsvector('english'::regconfig, translate(COALESCE("title", ''), '@.', '  '))) STORED;

-- 9002_articles_search_gin.down.sql
DROP INDEX CONCURRENTLY IF EXISTS "articles_search_vector_gin";

-- 9002_articles_search_gin.up.sql
CREATE INDEX CONCURRENTLY "articles_search_vector_gin" ON "articles" USING gin ("search_vector");

-- 9003_contacts_search_vector.down.sql
ALTER TABLE "contacts" DROP COLUMN IF EXISTS "search_vector";

-- 9003_contacts_search_vector.up.sql
-- ashlar:allow adding-search-vector
-- the table is written anew under a lock: on a large one in a quiet hour, with a longer statement timeout
ALTER TABLE "contacts" ADD COLUMN "search_vector" tsvector GENERATED ALWAYS AS (to_tsvector('simple'::regconfig, translate(COALESCE("email", '') || ' ' || COALESCE("host", '') || ' ' || COALESCE("note", '') || ' ' || LOWER(COALESCE("name", '')), '@.', '  '))) STORED;

-- 9004_contacts_search_gin.down.sql
DROP INDEX CONCURRENTLY IF EXISTS "contacts_search_vector_gin";

-- 9004_contacts_search_gin.up.sql
CREATE INDEX CONCURRENTLY "contacts_search_vector_gin" ON "contacts" USING gin ("search_vector");
