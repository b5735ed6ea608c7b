-- ashlar:allow adding-search-vector
-- the table is written anew under a lock: on a large one in a quiet hour, with a longer statement timeout
ALTER TABLE "books" ADD COLUMN "search_vector" tsvector GENERATED ALWAYS AS (to_tsvector('english'::regconfig, translate(COALESCE("author", '') || ' ' || COALESCE("title", ''), '@.', '  '))) STORED;
