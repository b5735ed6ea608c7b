CREATE SCHEMA billing;
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE TYPE rental_status AS ENUM ('reserved', 'picked up', 'returned', 'cancelled');
CREATE TYPE billing.invoice_state AS ENUM ('draft', 'sent', 'paid');
CREATE DOMAIN positive_amount AS numeric(12,2) CHECK (VALUE >= 0);

CREATE FUNCTION set_updated_at() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.updated_at = now();
  RETURN NEW;
END $$;

CREATE FUNCTION search_text(title text, body text) RETURNS tsvector LANGUAGE sql IMMUTABLE
  AS $$ SELECT to_tsvector('simple'::regconfig, coalesce(title, '') || ' ' || coalesce(body, '')) $$;

CREATE TABLE accounts (
  id varchar(36) PRIMARY KEY,
  name varchar(120) NOT NULL,
  plan text NOT NULL DEFAULT 'free' CHECK (plan IN ('free', 'paid')),
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE currencies (
  code char(3) PRIMARY KEY,
  title text NOT NULL,
  digits smallint NOT NULL DEFAULT 2
);

CREATE TABLE countries (
  code varchar(2) PRIMARY KEY,
  title text NOT NULL,
  currency_code char(3) NOT NULL REFERENCES currencies (code)
);

CREATE TABLE branches (
  id serial PRIMARY KEY,
  account_id varchar(36) NOT NULL REFERENCES accounts (id),
  name varchar(80) NOT NULL,
  country_code varchar(2) REFERENCES countries (code),
  opening_hours jsonb NOT NULL DEFAULT '{}',
  latitude double precision,
  longitude double precision,
  is_open boolean NOT NULL DEFAULT true,
  UNIQUE (account_id, name)
);
COMMENT ON COLUMN branches.opening_hours IS 'by weekday';
COMMENT ON TABLE branches IS 'Where customers pick items up.';

CREATE TABLE customers (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  account_id varchar(36) NOT NULL REFERENCES accounts (id),
  email text NOT NULL CHECK (position('@' IN email) > 1),
  full_name text NOT NULL,
  born_on date,
  phone_numbers text[] NOT NULL DEFAULT '{}',
  password_hash text,
  "newsletterOptIn" boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  deleted_at timestamptz
);
CREATE UNIQUE INDEX customers_email ON customers (account_id, lower(email)) WHERE deleted_at IS NULL;
CREATE INDEX customers_name ON customers USING gin (full_name gin_trgm_ops);
CREATE TRIGGER customers_updated_at BEFORE UPDATE ON customers FOR EACH ROW EXECUTE FUNCTION set_updated_at();

CREATE TABLE customer_notes (
  id bigserial PRIMARY KEY,
  account_id varchar(36) NOT NULL,
  customer_id uuid NOT NULL REFERENCES customers (id) ON DELETE CASCADE,
  body text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX customer_notes_customer ON customer_notes (customer_id, created_at DESC);

CREATE TABLE categories (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  account_id varchar(36) NOT NULL,
  parent_id integer REFERENCES categories (id),
  title varchar(60) NOT NULL
);

CREATE TABLE items (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  account_id varchar(36) NOT NULL,
  branch_id integer NOT NULL REFERENCES branches (id),
  title varchar(120) NOT NULL,
  description text,
  daily_price numeric(12,2) NOT NULL,
  deposit positive_amount NOT NULL DEFAULT 0,
  serial_numbers integer[],
  attributes jsonb,
  weight real,
  "order" smallint NOT NULL DEFAULT 0,
  photo bytea,
  search tsvector GENERATED ALWAYS AS (search_text(title, description)) STORED,
  weekly_price numeric(12,2) GENERATED ALWAYS AS (daily_price * 5) STORED,
  updated_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT items_price CHECK (daily_price >= 0)
);
CREATE INDEX items_search ON items USING gin (search);
CREATE TRIGGER items_updated_at BEFORE UPDATE ON items FOR EACH ROW EXECUTE FUNCTION set_updated_at();

CREATE TABLE item_categories (
  item_id uuid NOT NULL REFERENCES items (id) ON DELETE CASCADE,
  category_id integer NOT NULL REFERENCES categories (id) ON DELETE CASCADE,
  PRIMARY KEY (item_id, category_id)
);

CREATE TABLE staff (
  id serial PRIMARY KEY,
  account_id varchar(36) NOT NULL,
  branch_id integer NOT NULL REFERENCES branches (id),
  login text NOT NULL UNIQUE,
  api_token text NOT NULL,
  working_time interval,
  last_address inet
);

CREATE TABLE rentals (
  id bigserial PRIMARY KEY,
  account_id varchar(36) NOT NULL,
  customer_id uuid NOT NULL REFERENCES customers (id),
  branch_id integer NOT NULL REFERENCES branches (id),
  status rental_status NOT NULL DEFAULT 'reserved',
  past_statuses rental_status[] NOT NULL DEFAULT '{}',
  starts_on date NOT NULL DEFAULT CURRENT_DATE,
  days integer NOT NULL,
  total positive_amount,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CHECK (days > 0)
);
CREATE INDEX rentals_open ON rentals (branch_id) WHERE status = 'picked up';
CREATE TRIGGER rentals_updated_at BEFORE INSERT OR UPDATE ON rentals FOR EACH ROW EXECUTE FUNCTION set_updated_at();

CREATE TABLE rental_items (
  rental_id bigint NOT NULL REFERENCES rentals (id) ON DELETE CASCADE,
  item_id uuid NOT NULL REFERENCES items (id),
  account_id varchar(36) NOT NULL,
  quantity integer NOT NULL DEFAULT 1,
  PRIMARY KEY (rental_id, item_id)
);

CREATE TABLE billing.invoices (
  account_id varchar(36) NOT NULL,
  id uuid NOT NULL,
  number integer GENERATED BY DEFAULT AS IDENTITY (START WITH 1000),
  rental_id bigint REFERENCES rentals (id),
  state billing.invoice_state NOT NULL DEFAULT 'draft',
  amount numeric(14,2) NOT NULL,
  currency_code char(3) NOT NULL DEFAULT 'EUR' REFERENCES currencies (code),
  due_on date,
  PRIMARY KEY (account_id, id)
);

CREATE TABLE billing.invoice_lines (
  account_id varchar(36) NOT NULL,
  invoice_id uuid NOT NULL,
  line_number smallint NOT NULL,
  label text NOT NULL,
  amount numeric(14,2) NOT NULL,
  PRIMARY KEY (account_id, invoice_id, line_number),
  FOREIGN KEY (account_id, invoice_id) REFERENCES billing.invoices (account_id, id) ON DELETE CASCADE
);

CREATE TABLE billing.payments (
  id uuid PRIMARY KEY,
  account_id varchar(36) NOT NULL,
  invoice_id uuid NOT NULL,
  amount positive_amount NOT NULL,
  received_at timestamptz NOT NULL,
  reference varchar(40),
  FOREIGN KEY (account_id, invoice_id) REFERENCES billing.invoices (account_id, id)
);

CREATE VIEW open_rentals AS SELECT r.id, r.account_id, c.full_name FROM rentals r JOIN customers c ON c.id = r.customer_id WHERE r.status = 'picked up';
CREATE MATERIALIZED VIEW billing.revenue AS SELECT account_id, sum(amount) AS amount FROM billing.payments GROUP BY account_id;
CREATE TABLE typeorm_metadata (type varchar NOT NULL, "database" varchar, schema varchar, "table" varchar, name varchar, value text);
