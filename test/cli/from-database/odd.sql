CREATE SCHEMA "Sales";
CREATE TABLE "order" (id serial PRIMARY KEY, org_id integer NOT NULL, "select" text, "class" text, "constructor" text, "2fa" text, "user_id" int, "userId" int, "type" text NOT NULL);
CREATE TABLE orders (id serial PRIMARY KEY, org_id integer NOT NULL, order_id int REFERENCES "order"(id));
CREATE TABLE "Sales"."Order" ("Id" uuid PRIMARY KEY, org_id integer NOT NULL, "OrderTitle" text DEFAULT 'it''s "x"');
CREATE TABLE "user" (id bigint PRIMARY KEY, org_id integer NOT NULL, "group" text, mail text, seen timestamp, price money, spot point);
CREATE TABLE date (day date PRIMARY KEY, org_id integer NOT NULL);
CREATE TABLE object (id varchar(20), org_id integer, title text, PRIMARY KEY (org_id, id));
CREATE TABLE numbered (id serial, org_id integer, title text NOT NULL, PRIMARY KEY (org_id, id));
CREATE TABLE no_keys (id int, org_id integer);
CREATE TABLE parts (id int, org_id integer, at timestamptz NOT NULL, PRIMARY KEY (id, at)) PARTITION BY RANGE (at);
CREATE TABLE parts_2026 PARTITION OF parts FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');
CREATE TABLE base_rows (id serial PRIMARY KEY, org_id integer NOT NULL);
CREATE TABLE child_rows (extra text) INHERITS (base_rows);
CREATE TABLE flyway_schema_history (installed_rank int PRIMARY KEY, version text, checksum int);
CREATE TYPE address AS (street text, city text);
CREATE TABLE people (id serial PRIMARY KEY, org_id integer NOT NULL, home address NOT NULL, note text);
CREATE TABLE kinds (id serial PRIMARY KEY, org_id integer NOT NULL, state text NOT NULL CHECK (state IN ('a', 'b')), code char(2) NOT NULL, period tstzrange, EXCLUDE USING gist (period WITH &&));
CREATE TABLE regions (code varchar(4) PRIMARY KEY, title text NOT NULL);
CREATE TABLE shops (id uuid PRIMARY KEY, org_id integer NOT NULL, region_code varchar(4) NOT NULL REFERENCES regions (code));
CREATE TABLE wide (id serial PRIMARY KEY, org_id integer NOT NULL);
DO $$ BEGIN
  FOR number IN 1..200 LOOP
    EXECUTE format('ALTER TABLE wide ADD COLUMN column_%s text', number);
  END LOOP;
END $$;
