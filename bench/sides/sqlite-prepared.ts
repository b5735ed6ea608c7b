import sqlite3 from 'sqlite3'
import { Widget_State } from '../../examples/widgets/gen/widgets_pb.js'
import { Widget } from '../../examples/widgets/widget.js'
import type { Side } from '../subject.js'
import { LIST, tenantOf, TENANTS, turns, widgetOf, WIDGETS } from './widgets.js'

/** The columns of the table and the properties of the entity, in the same order. */
const COLUMNS =
  'id, display_name, description, size, price, state, tags, create_time, update_time, etag, account_id, deleted_at'
const TABLE = `
  CREATE TABLE widgets (
    id TEXT NOT NULL, display_name TEXT NOT NULL, description TEXT NOT NULL, size INTEGER NOT NULL, price REAL NOT NULL,
    state TEXT NOT NULL, tags TEXT NOT NULL, create_time TEXT NOT NULL, update_time TEXT NOT NULL, etag TEXT NOT NULL,
    account_id TEXT NOT NULL, deleted_at TEXT, PRIMARY KEY (account_id, id)
  );
  CREATE INDEX widgets_by_create_time ON widgets (account_id, create_time, id)`

type Row = Readonly<Record<string, string | number | null>>

/** Code written for these two queries on the bare driver. */
export async function setUp(): Promise<Side> {
  const database = new sqlite3.Database(':memory:')
  const promised = <T>(call: (done: (error: Error | null, value?: T) => void) => void): Promise<T> =>
    new Promise((resolve, reject) => call((error, value) => (error ? reject(error) : resolve(value as T))))
  await promised((done) => database.exec(TABLE, done))
  await fill((values) =>
    promised((done) =>
      database.run(`INSERT INTO widgets (${COLUMNS}) VALUES (${'?,'.repeat(11)}?)`, values, done),
    ),
  )

  const getOne = database.prepare(
    `SELECT ${COLUMNS} FROM widgets WHERE account_id = ? AND id = ? AND deleted_at IS NULL`,
  )
  const getPage = database.prepare(
    `SELECT ${COLUMNS} FROM widgets WHERE account_id = ? AND deleted_at IS NULL AND size >= ? AND state = ?
     ORDER BY display_name DESC, id DESC LIMIT ?`,
  )
  const next = turns()
  return {
    operations: {
      async get() {
        const { tenant, key } = next()
        const widget = toWidget(await promised<Row>((done) => getOne.get([tenant, key], done)))
        if (widget.id !== key || widget.accountId !== tenant) throw new TypeError(`wrong widget for ${key}`)
      },
      async list() {
        const { tenant } = next()
        const rows = await promised<Row[]>((done) =>
          getPage.all([tenant, 200, 'ACTIVE', LIST.pageSize + 1], done),
        )
        const items = rows.slice(0, LIST.pageSize).map(toWidget)
        const last = items.at(-1)
        const token =
          rows.length > LIST.pageSize
            ? Buffer.from(JSON.stringify([last?.displayName, last?.id])).toString('base64url')
            : ''
        if (items.length !== LIST.pageSize || token === '') throw new TypeError(`${items.length} widgets`)
      },
    },
    async tearDown() {
      for (const statement of [getOne, getPage])
        await promised((done) => statement.finalize(() => done(null)))
      await promised((done) => database.close(done))
    },
  }
}

function toWidget(row: Row): Widget {
  const widget = new Widget()
  widget.id = row['id'] as string
  widget.displayName = row['display_name'] as string
  widget.description = row['description'] as string
  widget.size = row['size'] as number
  widget.price = row['price'] as number
  widget.state = Widget_State[row['state'] as keyof typeof Widget_State]
  widget.tags = JSON.parse(row['tags'] as string) as Record<string, string>
  widget.createTime = new Date(row['create_time'] as string)
  widget.updateTime = new Date(row['update_time'] as string)
  widget.etag = row['etag'] as string
  widget.accountId = row['account_id'] as string
  if (row['deleted_at'] !== null) widget.deleteTime = new Date(row['deleted_at'] as string)
  return widget
}

async function fill(insert: (values: readonly unknown[]) => Promise<unknown>): Promise<void> {
  for (let tenant = 0; tenant < TENANTS; tenant++)
    for (let n = 0; n < WIDGETS; n++) {
      const { id, displayName, description, size, price, state, tags } = widgetOf(n)
      const now = new Date().toISOString()
      const written = [
        id,
        displayName,
        description,
        size,
        price,
        Widget_State[state ?? 0],
        JSON.stringify(tags),
      ]
      await insert([...written, now, now, `etag-${n}`, tenantOf(tenant), null])
    }
}
