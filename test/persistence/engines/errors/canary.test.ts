import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { RequestContext } from '../../../../lib/context.js'
import { Aborted, AshlarError } from '../../../../lib/errors.js'
import type { DialectName } from '../../../../lib/persistence/dialects/dialect.js'
import { executorOf } from '../../../../lib/persistence/engines/executor-of.js'
import { createTable } from '../../../../lib/persistence/schema/create-table.js'
import { tableOf } from '../../../../lib/persistence/schema/table-of.js'
import { resourceModel } from '../../../../lib/resource/resource-model.js'
import { collated, repositoriesOn } from '../../../conformance/repository/open-subject.js'
import { asTenant, inAcme, type Subject } from '../../../conformance/repository/subject.js'
import { type Backend, databases, describeOn, type OpenBackend } from '../../../support/databases/backends.js'
import {
  SecretTracker,
  CANARY,
  everythingSaidOf,
  outputOf,
  saidByServerOf,
} from '../../../support/values/canaries.js'
import { rejection } from '../../../support/rejection.js'
import { Note, Specimen } from '../../../support/entities/specimen.js'
import { statement } from '../../../support/databases/statement.js'
import { dialectNamed } from '../../../../lib/persistence/dialects/dialect-named.js'

type Specimens = Subject['specimens']
type Failing = Readonly<Record<string, (specimens: Specimens) => Promise<unknown>>>

const bird = (name: string) => `${CANARY}-${name}`
const full = (values: Partial<Specimen> = {}): Partial<Specimen> => ({
  id: bird('id'),
  code: bird('code'),
  title: bird('title'),
  note: bird('note'),
  bin: bird('bin'),
  blob: Buffer.from(bird('blob')),
  labels: [bird('label')],
  tags: { [bird('tag')]: bird('value') },
  origin: { quarry: bird('quarry'), depth: 1n, crew: [bird('crew')] },
  webhookSecret: bird('secret'),
  ...values,
})
const changed = (values: Partial<Specimen>) => [{ ...full(), ...values } as Specimen, ['*']] as const

/** Writes that a constraint of the table refuses. */
const REFUSED: Failing = {
  'a key taken': (on) => on.create(full({ code: bird('new') })),
  'a unique value taken': (on) => on.create(full({ id: bird('new') })),
  'a unique value taken by an update': (on) => on.update(bird('other'), ...changed({})),
  'a reference to nothing': (on) => on.create(full({ id: bird('new'), code: bird('new'), rank: 999 })),
  'a reference to nothing by an update': (on) => on.update(bird('id'), ...changed({ rank: 999 })),
  'a check': (on) => on.create(full({ id: bird('new'), code: bird('new'), count: 100 })),
  'a check of an update': (on) => on.update(bird('id'), ...changed({ count: 100 })),
  'NULL where none may be': (on) =>
    on.create(full({ id: bird('new'), code: bird('new'), note: undefined as never })),
  'NULL by an update': (on) => on.update(bird('id'), { title: bird('x') }, ['title', 'note']),
  'a trigger': (on) => on.create(full({ id: bird('new'), code: bird('new'), count: 50 })),
  'a trigger of an update': (on) => on.update(bird('id'), ...changed({ count: 50 })),
  'a batch': (on) =>
    on.batchUpdate([
      { key: bird('id'), entity: { title: bird('x') }, fieldMask: ['title'] },
      { key: bird('other'), entity: { count: 100, title: bird('y') }, fieldMask: ['count', 'title'] },
    ]),
  'a transaction': (on) => on.transaction(() => on.create(full({ id: bird('new') }))),
  'an undelete': async (on) => {
    await on.delete(bird('id'))
    await on.create(full({ id: bird('heir') }))
    await on.undelete(bird('id'))
  },
}

/** Every statement there is, for a database in which none can succeed. */
const EVERYTHING: Failing = {
  create: (on) => on.create(full()),
  get: (on) => on.get(bird('id')),
  list: (on) => on.list({ filter: `title = "${bird('filter')}"`, orderBy: 'title' }),
  update: (on) => on.update(bird('id'), ...changed({})),
  delete: (on) => on.delete(bird('id'), { ifMatch: bird('etag') }),
  undelete: (on) => on.undelete(bird('id')),
  batchGet: (on) => on.batchGet([bird('id')]),
  batchUpdate: (on) => on.batchUpdate([{ key: bird('id'), entity: full() as Specimen, fieldMask: ['*'] }]),
  batchDelete: (on) => on.batchDelete([bird('id')]),
  purgeExpired: (on) => on.purgeExpired(new Date()),
  lookup: (on) => on.lookupByWebhookSecretHash(bird('hash')),
  reveal: (on) => on.revealWebhookSecret(bird('id')),
  remint: (on) => on.remintApiKey(bird('id')),
  verify: (on) => on.verifyApiKey(`ib_${'a'.repeat(22)}_${CANARY}${'b'.repeat(37)}`),
}

const TRIGGERS: Readonly<Record<DialectName, readonly string[]>> = {
  postgres: [
    `CREATE FUNCTION echo() RETURNS trigger AS $$ BEGIN
       RAISE EXCEPTION 'bad row %', NEW USING ERRCODE = CASE NEW.count WHEN 51 THEN '40P01' ELSE '23514' END, DETAIL = NEW.title, HINT = NEW.note; END $$ LANGUAGE plpgsql`,
    'CREATE TRIGGER echo BEFORE INSERT OR UPDATE ON specimens FOR EACH ROW WHEN (NEW.count IN (50, 51)) EXECUTE FUNCTION echo()',
  ],
  sqlite: ['INSERT', 'UPDATE'].map(
    (event) =>
      `CREATE TRIGGER echo_${event} BEFORE ${event} ON specimens WHEN NEW.count = 50 BEGIN SELECT RAISE(ABORT, '${bird('raise')}'); END`,
  ),
  mariadb: [],
  mysql: [],
}
const SIGNAL = ['INSERT', 'UPDATE'].map(
  (event) =>
    `CREATE TRIGGER echo_${event} BEFORE ${event} ON specimens FOR EACH ROW BEGIN DECLARE said TEXT; SET said = NEW.title;
       IF NEW.count = 51 THEN SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213, MESSAGE_TEXT = said; END IF;
       IF NEW.count = 50 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = said; END IF; END`,
)

describeOn('what is said of a statement that fails', databases, (backend: Backend) => {
  let opened: OpenBackend
  let dataSource: DataSource
  let dialect: DialectName
  let tracker: SecretTracker
  let specimens: Specimens

  before(async () => {
    opened = await backend.open([Specimen, Note])
    dataSource = opened.dataSource!
    dialect = opened.database!.dialect.name
  })
  after(() => opened?.close())

  /**
   * The table, with a foreign key, a check and a trigger that repeats the row, and two rows of canaries in
   * it.
   */
  beforeEach(async () => {
    tracker = new SecretTracker()
    const { minter, encryptor } = tracker
    specimens = repositoriesOn(dataSource, { minter, encryptor }).specimens
    await forgetDeadConnections(dataSource)
    for (const table of ['moved', 'specimens', 'shelves'])
      await dataSource.query(`DROP TABLE IF EXISTS ${table}`)
    if (dialect === 'postgres') await dataSource.query('DROP FUNCTION IF EXISTS echo')
    const on = collated(dataSource, backend)
    const mark = dialect === 'mysql' || dialect === 'mariadb' ? '`' : '"'
    const [create = '', ...indexes] = createTable(
      tableOf(resourceModel(Specimen), dialectNamed(dialect)),
      dialectNamed(dialect),
    )
    await on.query('CREATE TABLE shelves (id integer PRIMARY KEY)')
    await on.query(
      create
        .replace(/(.note. [^,]*?)(,\n)/, '$1 NOT NULL$2')
        .replace(
          '  PRIMARY KEY',
          `  CHECK (${mark}count${mark} < 100),\n  FOREIGN KEY (${mark}rank${mark}) REFERENCES shelves (id),\n  PRIMARY KEY`,
        ),
    )
    for (const text of indexes) await on.query(text)
    for (const text of mark === '`' ? SIGNAL : TRIGGERS[dialect]) await on.query(text)
    await inAcme(async () => {
      await specimens.create(full())
      await specimens.create(full({ id: bird('other'), code: bird('other') }))
    })
  })

  /** Runs each operation, which has to fail, and looks through everything that is said of it. */
  async function expectSilence(failing: Failing, saidOf = everythingSaidOf) {
    const said: Record<string, string> = {}
    const output = await outputOf(async () => {
      for (const [what, operation] of Object.entries(failing)) {
        const error = await inAcme(() => operation(specimens)).then(
          (answer) => new TypeError(`${what} returned ${typeof answer}`),
          (reason: unknown) => reason,
        )
        said[what] =
          error instanceof AshlarError || saidOf === saidByServerOf
            ? await saidOf(error)
            : `${CANARY}: ${String(error)}`
      }
    })
    for (const [what, text] of Object.entries({ ...said, output }))
      expect(tracker.foundIn(text), what).to.deep.equal([])
  }

  it('knows a canary when it sees one', async () => {
    const wire = await everythingSaidOf(new Error('x', { cause: { deep: { row: [bird('row')] } } }))
    expect(tracker.foundIn(wire)).to.have.length(1)
    const output = await outputOf(async () => void process.stderr.write(bird('stderr')))
    expect(tracker.foundIn(output)).to.have.length(1)
  })

  for (const [what, operation] of Object.entries(REFUSED))
    it(`repeats no value: ${what}`, () => expectSilence({ [what]: operation }))

  it('repeats no value when a column is missing', async () => {
    await dataSource.query('ALTER TABLE specimens RENAME COLUMN etag TO moved')
    const { purgeExpired: _, ...failing } = EVERYTHING
    await expectSilence(failing)
  })

  it('repeats no value when the table is missing', async () => {
    await dataSource.query('ALTER TABLE specimens RENAME TO moved')
    await expectSilence(EVERYTHING)
  })

  if (backend.name === 'postgres' || backend.name === 'mariadb' || backend.name === 'mysql8') {
    it('repeats no value when a deadlock comes again and again', async () => {
      const deadlocked: Failing = {
        create: (on) => on.create(full({ id: bird('new'), code: bird('new'), count: 51 })),
        update: (on) => on.update(bird('id'), ...changed({ count: 51 })),
        batchUpdate: (on) =>
          on.batchUpdate([{ key: bird('id'), entity: full({ count: 51 }) as Specimen, fieldMask: ['*'] }]),
        transaction: (on) => on.transaction(() => on.update(bird('id'), ...changed({ count: 51 }))),
      }
      for (const operation of Object.values(deadlocked))
        await rejection(
          inAcme(() => operation(specimens)),
          Aborted,
        )
      await expectSilence(deadlocked)
    })

    it('repeats no value when a column has another type', async () => {
      await dataSource.query('DELETE FROM specimens')
      await dataSource.query(
        dialect === 'postgres'
          ? 'ALTER TABLE specimens ALTER COLUMN title TYPE integer USING 0'
          : 'ALTER TABLE specimens MODIFY title integer',
      )
      await expectSilence({ create: EVERYTHING.create! })
      if (dialect === 'postgres') await expectSilence({ list: EVERYTHING.list! })
    })

    it('repeats no value when the connection is lost', async () => {
      const database = executorOf(dataSource)
      const lease = await database.lease()
      try {
        await lease.control('BEGIN')
        await lease.run(statement('UPDATE specimens SET title = title', dialect), [])
        await expectSilence({
          update: async (on) => {
            const waiting = on.update(bird('id'), ...changed({}))
            waiting.catch(() => {})
            await killWaiting()
            await waiting
          },
        })
      } finally {
        lease.release({ broken: true })
      }
    })
  }

  it('repeats no value when the time is up', async () => {
    const lease = await executorOf(dataSource).lease()
    try {
      await lease.control('BEGIN')
      await lease.run(statement('UPDATE specimens SET title = title', dialect), [])
      await expectSilence({
        update: (on) =>
          on.update(bird('id'), ...changed({}), {
            context: RequestContext.current().with({ signal: AbortSignal.timeout(100) }),
          }),
      })
    } finally {
      await lease.control('ROLLBACK')
      lease.release()
    }
  })

  it('repeats no value of a statement of TypeORM', () =>
    expectSilence(
      {
        'a unique value taken': () => dataSource.query(insertOf(dialect), [bird('id')]),
        'a statement that is none': () => dataSource.query(`SELEKT '${bird('text')}'`),
      },
      saidByServerOf,
    ))

  it('repeats no value when somebody else asks', async () => {
    const error = await asTenant('globex', () => specimens.get(bird('id'))).catch((reason: unknown) => reason)
    expect(tracker.foundIn(await everythingSaidOf(error))).to.deep.equal([])
  })

  /** Ends the connection of the statement that waits for a lock. */
  async function killWaiting(): Promise<void> {
    for (;;) {
      const rows: { id: string }[] = await dataSource.query(
        dialect === 'postgres'
          ? `SELECT pid AS id FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
          : `SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND info LIKE 'UPDATE%' AND command = 'Execute'`,
      )
      for (const { id } of rows)
        await dataSource.query(dialect === 'postgres' ? `SELECT pg_terminate_backend(${id})` : `KILL ${id}`)
      if (rows.length > 0) return
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
})

/** A copy of a row under its own key. */
const insertOf = (dialect: DialectName): string =>
  `INSERT INTO specimens SELECT * FROM specimens WHERE id = ${dialect === 'postgres' ? '$1' : '?'}`

/**
 * A case before may have ended connections that the pool has not noticed yet: each one fails once, then it is
 * gone.
 */
async function forgetDeadConnections(dataSource: DataSource): Promise<void> {
  for (let left = 20; left > 0; left--) {
    const dead = await dataSource.query('SELECT 1').then(
      () => false,
      () => true,
    )
    if (!dead) return
  }
}
