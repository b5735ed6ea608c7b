import { expect } from 'chai'
import { DataSource } from 'typeorm'
import { DeadLetters } from '../../../lib/events/store/sql-dead-letters.js'
import { OutboxLog } from '../../../lib/events/log/outbox-log.js'
import { Internal } from '../../../lib/errors.js'
import { type Dialect, migrate } from '../../../lib/migrations/index.js'
import { executorOf } from '../../../lib/persistence/engines/executor-of.js'
import { SqlIdempotencyStore } from '../../../lib/server/idempotency/sql-idempotency-store.js'
import { idempotencyStoreOf } from '../../../lib/server/unavailable-stores.js'
import { rejection } from '../../support/rejection.js'
import { onEachEngine } from '../each-engine.js'
import { runHost } from '../hosts/run-host.js'

const ROWS = 10_000
const KEY = { tenant: 't1', method: '/a.B/C', requestId: 'r1' }

/** The framework's tables as the Go framework makes them, in PostgreSQL's types. */
const TABLES = [
  'CREATE TABLE idempotency_keys (account_id varchar(255) NOT NULL, method varchar(255) NOT NULL, request_id varchar(255) NOT NULL, status varchar(16) NOT NULL, response_type varchar(255), response bytea, fingerprint varchar(64), created_at timestamptz NOT NULL, expires_at timestamptz NOT NULL, PRIMARY KEY (account_id, method, request_id))',
  'CREATE TABLE idempotency_markers (key varchar(255) PRIMARY KEY)',
  'CREATE TABLE outbox (id varchar(36) NOT NULL, account_id text, aggregate_type text, aggregate_id text, event_type text, payload bytea, created_time timestamptz NOT NULL, event_seq bigint DEFAULT 0, event_epoch bigint DEFAULT 0, PRIMARY KEY (id, created_time))',
  'CREATE TABLE outbox_dead_letter (id bigserial PRIMARY KEY, cursor_name text, event_id text, event_type text, reason text, created_time timestamptz, recorded_at timestamptz)',
  'CREATE TABLE outbox_dispatch_cursor (name varchar(255) PRIMARY KEY, cursor_time timestamptz, cursor_id text, head_failures bigint)',
  'CREATE TABLE tenant_event_policy (tenant_id varchar(255) PRIMARY KEY, policy bigint DEFAULT 0, event_epoch bigint DEFAULT 0, updated_at timestamptz)',
  'CREATE TABLE tenant_event_seq (account_id varchar(255) PRIMARY KEY, next_seq bigint DEFAULT 0)',
  'CREATE TABLE tenant_fence (tenant_id varchar(255) PRIMARY KEY, owner_cell text, route_epoch bigint DEFAULT 0, sealed boolean DEFAULT false, barrier_epoch bigint DEFAULT 0, updated_at timestamptz)',
  'CREATE TABLE schema_migrations (version bigint PRIMARY KEY, dirty boolean NOT NULL)',
  'INSERT INTO schema_migrations VALUES (1, false)',
]

/** The SQL of one engine: types, and expressions with the number `n` of a row. */
const SQL = {
  postgres: {
    typed: (sql: string) => sql,
    numbers: `(SELECT n FROM generate_series(1, ${ROWS}) n) AS numbers`,
    text: 'n::text',
    padded: "lpad(n::text, 5, '0')",
    inSteps: (start: string) => `${start}::timestamptz + n / 2 * interval '1 second'`,
    inAnHour: "now() + interval '1 hour'",
    bytes: (hex: string) => `'\\x${hex}'::bytea`,
  },
  mysql: {
    // The types that GORM chooses.
    typed: (sql: string) =>
      sql
        .replaceAll('timestamptz', 'datetime(3)')
        .replaceAll('bytea', 'longblob')
        .replaceAll('bigserial', 'bigint AUTO_INCREMENT')
        .replaceAll(' text', ' longtext')
        .replace('(key ', '(`key` ')
        .replace(/^CREATE TABLE .*/, '$& DEFAULT CHARSET utf8mb4 COLLATE utf8mb4_general_ci'),
    numbers: `(WITH RECURSIVE numbers AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM numbers WHERE n < 100) SELECT (a.n - 1) * 100 + b.n AS n FROM numbers AS a, numbers AS b) AS numbers`,
    text: "CONCAT(n, '')",
    padded: "LPAD(n, 5, '0')",
    inSteps: (start: string) => `${start} + INTERVAL n DIV 2 SECOND`,
    inAnHour: 'UTC_TIMESTAMP() + INTERVAL 1 HOUR',
    bytes: (hex: string) => `x'${hex}'`,
  },
} as const
const START = "'2026-01-01 00:00:00'"

/** Ten thousand rows of each table; the cursor `all` has passed 9,990 events, and `slow` 9,985. */
const filled = ({ numbers, text, padded, inSteps, inAnHour, bytes }: (typeof SQL)[Dialect]) => [
  `INSERT INTO idempotency_keys SELECT 't1', '/a.B/C', CONCAT('r', ${text}), 'completed', 'a.C', ${bytes('00')}, 'f', ${START}, ${inAnHour} FROM ${numbers}`,
  `INSERT INTO idempotency_markers SELECT CONCAT('m', ${text}) FROM ${numbers}`,
  `INSERT INTO outbox_dead_letter (cursor_name, event_id) SELECT 'all', CONCAT('e', ${text}) FROM ${numbers}`,
  `INSERT INTO outbox (id, account_id, aggregate_type, aggregate_id, event_type, payload, created_time) SELECT CONCAT('e', ${padded}), CASE WHEN MOD(n, 2) = 0 THEN 't1' END, 'thing', ${text}, 'thing.told', ${bytes('7b7d')}, ${inSteps(START)} FROM ${numbers}`,
  `INSERT INTO outbox_dispatch_cursor SELECT 'all', created_time, id, NULL FROM outbox WHERE id = 'e09990'`,
  `INSERT INTO outbox_dispatch_cursor SELECT 'slow', created_time, id, NULL FROM outbox WHERE id = 'e09985'`,
  `INSERT INTO tenant_event_seq SELECT CONCAT('t', ${text}), n FROM ${numbers}`,
  `INSERT INTO tenant_event_policy (tenant_id) SELECT CONCAT('t', ${text}) FROM ${numbers}`,
  `INSERT INTO tenant_fence (tenant_id) SELECT CONCAT('t', ${text}) FROM ${numbers}`,
]
const FILLED_TABLES = [
  ...['idempotency_keys', 'idempotency_markers', 'outbox'],
  ...['tenant_event_seq', 'tenant_event_policy', 'tenant_fence'],
]

onEachEngine(
  'a database of the Go framework',
  (database, dialect) => {
    const sql = SQL[dialect]
    const options = () => ({ url: database().url, files: {} })
    const create = async (...more: readonly string[]) => {
      for (const one of [...TABLES.map(sql.typed), ...more]) await database().rows(one)
    }
    const count = async (table: string) =>
      Number((await database().rows(`SELECT COUNT(*) AS n FROM ${table}`))[0]?.['n'])
    const withDataSource = async <T>(fn: (dataSource: DataSource) => Promise<T>): Promise<T> => {
      const dataSource = await new DataSource({ type: dialect, url: database().url }).initialize()
      return fn(dataSource).finally(() => dataSource.destroy())
    }
    /** The ids and tenants of events that are sent, in their order. */
    const sent = (wanted: number) =>
      withDataSource(async (dataSource) => {
        const stop = new AbortController()
        const events: string[] = []
        for await (const { id, tenant } of new OutboxLog(executorOf(dataSource)).read(0, stop.signal)) {
          events.push(`${id} ${tenant}`)
          if (events.length === wanted) stop.abort()
        }
        expect(await new OutboxLog(executorOf(dataSource)).behind(wanted)).to.equal(0)
        return events
      })
    const expectUpgraded = async () => {
      await migrate(options()).up()
      await migrate(options()).up()
      expect(await migrate(options()).verify()).to.deep.equal([])
      for (const table of FILLED_TABLES) expect(await count(table), table).to.equal(ROWS)
      const letters = await database().rows(
        `SELECT cursor_name, event_id, reason FROM outbox_dead_letter WHERE reason IS NOT NULL ORDER BY event_id`,
      )
      expect(await count('outbox_dead_letter')).to.equal(ROWS + 5)
      expect(letters.map(({ event_id }) => event_id)).to.deep.equal(
        [86, 87, 88, 89, 90].map((n) => `e099${n}`),
      )
      expect(letters.every(({ cursor_name }) => cursor_name === 'slow')).to.equal(true)
    }

    for (const when of ['before', 'during', 'after'] as const)
      it(`is upgraded without the loss of a row, killed ${when} a statement`, async () => {
        await create(...filled(sql))
        await runHost({ options: options(), die: { at: 5, when } })
        await expectUpgraded()
      })

    // MySQL commits each statement: the next run begins with the one that may be done.
    if (dialect === 'mysql')
      it('is upgraded without the loss of a row, killed after each statement', async () => {
        await create(...filled(sql))
        const run = (at: number) => runHost({ options: options(), die: { at, when: 'after' } })
        let killed = 0
        for (let at = 1; (await run(at)) === undefined; at = 2) killed++
        expect(killed).to.be.greaterThan(10)
        await expectUpgraded()
      })

    it('sends the events behind the dispatch cursor once, in their order, and no other', async () => {
      await create(...filled(sql))
      await migrate(options()).up()
      expect(await sent(10)).to.deep.equal(
        [91, 92, 93, 94, 95, 96, 97, 98, 99]
          .map((n) => `e099${n} ${n % 2 === 0 ? 't1' : ''}`)
          .concat('e10000 t1'),
      )
    })

    for (const id of ['NULL', "''"])
      it(`sends no event of the time of a dispatch cursor whose id is ${id}`, async () => {
        await create(
          ...['1', '2', '3', '4'].map(
            (n) =>
              `INSERT INTO outbox (id, aggregate_type, aggregate_id, event_type, payload, created_time) VALUES ('e${n}', 'thing', '${n}', 'thing.told', ${sql.bytes('7b7d')}, '2026-01-01 00:00:0${n === '3' ? '2' : n}')`,
          ),
          `INSERT INTO outbox_dispatch_cursor VALUES ('all', '2026-01-01 00:00:02', ${id}, 0)`,
          `INSERT INTO outbox_dispatch_cursor VALUES ('slow', '2026-01-01 00:00:01', ${id}, 0)`,
        )
        await migrate(options()).up()
        expect(await sent(1)).to.deep.equal(['e4 '])
        const letters = await database().rows(
          'SELECT cursor_name, event_id FROM outbox_dead_letter ORDER BY id',
        )
        expect(
          letters.map(({ cursor_name: name, event_id: event }) => `${String(name)} ${String(event)}`),
        ).to.have.members(['slow e2', 'slow e3'])
      })

    it('retries no dead letter of the Go framework that lacks the time when it was recorded', async () => {
      await create(
        "INSERT INTO outbox_dead_letter (cursor_name, event_id, created_time) VALUES ('all', 'e1', '2026-01-01 00:00:00')",
        "INSERT INTO outbox_dead_letter (cursor_name, event_id) VALUES ('all', 'e2')",
      )
      await migrate(options()).up()
      await withDataSource(async (dataSource) => {
        const letters = new DeadLetters(executorOf(dataSource))
        expect(await letters.waiting('all')).to.deep.equal([])
        const listed = await letters.list(10)
        expect(listed.map(({ eventId, isWaiting }) => [eventId, isWaiting])).to.deep.equal([
          ['e1', false],
          ['e2', false],
        ])
      })
    })

    it('replays no response of the Go framework, and keeps it until it ends', async () => {
      await create(...filled(sql))
      await migrate(options()).up()
      const states = await withDataSource(async (dataSource) => {
        const store = new SqlIdempotencyStore(dataSource)
        const claims = ['ada', ''].map((subject) => store.claim({ ...KEY, subject }, 'f', 10_000))
        return (await Promise.all(claims)).map(({ state }) => state)
      })
      expect(states).to.deep.equal(['claimed', 'claimed'])
      const [stored] = await database().rows(
        `SELECT COUNT(*) AS n FROM idempotency_keys WHERE subject = '' AND expires_at > now() AND response = ${sql.bytes('00')}`,
      )
      expect(Number(stored?.['n'])).to.equal(ROWS - 1)
    })

    it('is reported by verify if a table or column is missing, and calls do not say to retry', async () => {
      await migrate(options()).up()
      await database().rows('ALTER TABLE idempotency_keys DROP COLUMN lease_until')
      await database().rows('ALTER TABLE outbox DROP COLUMN log_position')
      await database().rows('DROP TABLE outbox_leases')
      await database().rows('DROP TABLE tenant_fence')
      expect(await migrate(options()).verify()).to.have.deep.members([
        { kind: 'missingTable', table: 'outbox_leases' },
        { kind: 'missingTable', table: 'tenant_fence' },
        { kind: 'incompleteTable', table: 'outbox', lacks: ['log_position'] },
        { kind: 'incompleteTable', table: 'idempotency_keys', lacks: ['lease_until'] },
      ])
      await withDataSource(async (dataSource) => {
        const store = idempotencyStoreOf(new SqlIdempotencyStore(dataSource))
        await rejection(store.claim({ ...KEY, subject: 'ada' }, 'f', 10_000), Internal)
      })
    })

    it('gets the columns and keys of a new database', async () => {
      await create()
      await migrate(options()).up()
      const schema = async () => {
        const columns = await database().rows(
          dialect === 'mysql'
            ? `SELECT CONCAT_WS(' ', TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, COLUMN_DEFAULT, COLLATION_NAME, EXTRA) AS line FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME NOT LIKE 'tenant%' AND TABLE_NAME NOT LIKE '%migrations' UNION SELECT CONCAT_WS(' ', TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX, COLUMN_NAME, SUB_PART, NON_UNIQUE) FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME NOT LIKE '%migrations'`
            : `SELECT CONCAT_WS(' ', table_name, column_name, data_type, is_nullable, column_default) AS line FROM information_schema.columns WHERE table_schema = 'public' AND table_name NOT LIKE 'tenant%' AND table_name NOT LIKE '%migrations' UNION SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename NOT LIKE '%migrations'`,
        )
        // A text column of MySQL keeps its longer type.
        return columns.map(({ line }) => String(line).replace(' longtext ', ' text ')).sort()
      }
      const upgraded = await schema()
      for (const table of await database().tables()) await database().rows(`DROP TABLE ${table}`)
      await migrate(options()).up()
      expect(upgraded).to.deep.equal(await schema())
    })
  },
  { empty: true },
)
