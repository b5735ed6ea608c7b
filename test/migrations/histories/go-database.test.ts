import { expect } from 'chai'
import { DataSource } from 'typeorm'
import { OutboxLog } from '../../../lib/events/log/outbox-log.js'
import { Internal } from '../../../lib/errors.js'
import { migrate } from '../../../lib/migrations/index.js'
import { executorOf } from '../../../lib/persistence/engines/executor-of.js'
import { SqlIdempotencyStore } from '../../../lib/server/idempotency/sql-idempotency-store.js'
import { idempotencyStoreOf } from '../../../lib/server/unavailable-stores.js'
import { rejection } from '../../support/rejection.js'
import { onEachEngine } from '../each-engine.js'
import { runHost } from '../hosts/run-host.js'

/** The framework's tables as the Go framework makes them. */
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
const ROWS = 10_000
const KEY = { tenant: 't1', method: '/a.B/C', requestId: 'r1' }

/** Ten thousand rows of each table; the cursor `all` has passed 9,990 events, and `slow` 9,985. */
const FILLED = [
  `INSERT INTO idempotency_keys SELECT 't1', '/a.B/C', 'r' || n, 'completed', 'a.C', '\\x00', 'f', now(), now() + interval '1 hour' FROM generate_series(1, ${ROWS}) n`,
  `INSERT INTO outbox_dead_letter (cursor_name, event_id) SELECT 'all', 'e' || n FROM generate_series(1, ${ROWS}) n`,
  `INSERT INTO outbox (id, account_id, aggregate_type, aggregate_id, event_type, payload, created_time) SELECT 'e' || lpad(n::text, 5, '0'), CASE WHEN n % 2 = 0 THEN 't1' END, 'thing', n::text, 'thing.told', '{}', '2026-01-01T00:00:00Z'::timestamptz + n / 2 * interval '1 second' FROM generate_series(1, ${ROWS}) n`,
  `INSERT INTO outbox_dispatch_cursor SELECT 'all', created_time, id FROM outbox WHERE id = 'e09990'`,
  `INSERT INTO outbox_dispatch_cursor SELECT 'slow', created_time, id FROM outbox WHERE id = 'e09985'`,
]

onEachEngine(
  'a database of the Go framework',
  (database) => {
    const options = () => ({ url: database().url, files: {} })
    const count = async (table: string) =>
      Number((await database().rows(`SELECT COUNT(*) AS n FROM ${table}`))[0]?.['n'])
    const withDataSource = async <T>(fn: (dataSource: DataSource) => Promise<T>): Promise<T> => {
      const dataSource = await new DataSource({ type: 'postgres', url: database().url }).initialize()
      return fn(dataSource).finally(() => dataSource.destroy())
    }

    for (const when of ['before', 'during', 'after'] as const)
      it(`is upgraded without the loss of a row, killed ${when} a statement`, async () => {
        for (const sql of [...TABLES, ...FILLED]) await database().rows(sql)
        await runHost({ options: options(), die: { at: 5, when } })
        await migrate(options()).up()
        await migrate(options()).up()
        expect(await migrate(options()).verify()).to.deep.equal([])
        expect(await count('idempotency_keys')).to.equal(ROWS)
        expect(await count('outbox')).to.equal(ROWS)
        const letters = await database().rows(
          `SELECT cursor_name, event_id, reason FROM outbox_dead_letter WHERE reason IS NOT NULL ORDER BY event_id`,
        )
        expect(await count('outbox_dead_letter')).to.equal(ROWS + 5)
        expect(letters.map(({ event_id }) => event_id)).to.deep.equal(
          [86, 87, 88, 89, 90].map((n) => `e099${n}`),
        )
        expect(letters.every(({ cursor_name }) => cursor_name === 'slow')).to.equal(true)
      })

    it('sends the events behind the dispatch cursor once, in their order, and no other', async () => {
      for (const sql of [...TABLES, ...FILLED]) await database().rows(sql)
      await migrate(options()).up()
      const sent = await withDataSource(async (dataSource) => {
        const stop = new AbortController()
        const events: string[] = []
        for await (const { id, tenant } of new OutboxLog(executorOf(dataSource)).read(0, stop.signal)) {
          events.push(`${id} ${tenant}`)
          if (events.length === 10) stop.abort()
        }
        expect(await new OutboxLog(executorOf(dataSource)).behind(10)).to.equal(0)
        return events
      })
      expect(sent).to.deep.equal(
        [91, 92, 93, 94, 95, 96, 97, 98, 99]
          .map((n) => `e099${n} ${n % 2 === 0 ? 't1' : ''}`)
          .concat('e10000 t1'),
      )
    })

    it('replays no response of the Go framework, and keeps it until it ends', async () => {
      for (const sql of [...TABLES, ...FILLED]) await database().rows(sql)
      await migrate(options()).up()
      const states = await withDataSource(async (dataSource) => {
        const store = new SqlIdempotencyStore(dataSource)
        const claims = ['ada', ''].map((subject) => store.claim({ ...KEY, subject }, 'f', 10_000))
        return (await Promise.all(claims)).map(({ state }) => state)
      })
      expect(states).to.deep.equal(['claimed', 'claimed'])
      const [kept] = await database().rows(
        `SELECT COUNT(*) AS n FROM idempotency_keys WHERE subject = '' AND expires_at > now() AND response = '\\x00'`,
      )
      expect(Number(kept?.['n'])).to.equal(ROWS - 1)
    })

    it('is reported by verify if a table lacks a column, and calls do not say to retry', async () => {
      await migrate(options()).up()
      await database().rows('ALTER TABLE idempotency_keys DROP COLUMN lease_until')
      expect(await migrate(options()).verify()).to.deep.equal([
        { kind: 'incompleteTable', table: 'idempotency_keys', lacks: ['lease_until'] },
      ])
      await withDataSource(async (dataSource) => {
        const store = idempotencyStoreOf(new SqlIdempotencyStore(dataSource))
        await rejection(store.claim({ ...KEY, subject: 'ada' }, 'f', 10_000), Internal)
      })
    })
  },
  { dialects: ['postgres'], empty: true },
)
