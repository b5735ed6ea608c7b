import { expect } from 'chai'
import { migrate } from '../../lib/migrations/index.js'
import { failureOf, file, onEachEngine } from './each-engine.js'

const T = file(
  '0002_t',
  'CREATE TABLE t (id bigint PRIMARY KEY, a text, b varchar(9) NOT NULL, c int CHECK (c > 0))',
  'DROP TABLE t',
)
/** What a change of a table does on MySQL, where it begins and where it ends. */
const MOMENT = 'reads and writes for a moment'
const U = file('0003_u', 'CREATE TABLE u (id bigint PRIMARY KEY, t_id bigint)', 'DROP TABLE u')

/**
 * Statements of PostgreSQL that can run in a transaction. Lock and rewriting are asked of the server itself.
 */
const POSTGRES: readonly string[] = [
  'ALTER TABLE t ADD COLUMN d text',
  'ALTER TABLE t ADD COLUMN d text DEFAULT now()',
  'ALTER TABLE t ADD COLUMN d uuid DEFAULT gen_random_uuid()',
  'ALTER TABLE t ADD COLUMN d bigserial',
  'ALTER TABLE t ADD COLUMN d int GENERATED ALWAYS AS IDENTITY',
  'ALTER TABLE t ADD COLUMN d int GENERATED ALWAYS AS (c + 1) STORED',
  'ALTER TABLE t DROP COLUMN a',
  'ALTER TABLE t ALTER COLUMN c TYPE bigint',
  'ALTER TABLE t ALTER a SET NOT NULL, ALTER b DROP NOT NULL',
  'ALTER TABLE t ALTER COLUMN a SET STATISTICS 9',
  "ALTER TABLE t ALTER COLUMN a SET DEFAULT 'x'",
  'ALTER TABLE t ADD CONSTRAINT d CHECK (c < 9) NOT VALID',
  'ALTER TABLE t ADD CONSTRAINT d CHECK (c < 9)',
  'ALTER TABLE t VALIDATE CONSTRAINT t_c_check',
  'ALTER TABLE t ADD UNIQUE (b)',
  'ALTER TABLE u ADD FOREIGN KEY (t_id) REFERENCES t NOT VALID',
  'ALTER TABLE u ADD COLUMN d bigint REFERENCES t',
  'ALTER TABLE t RENAME COLUMN a TO d',
  'ALTER TABLE t DISABLE TRIGGER USER',
  'ALTER TABLE t SET UNLOGGED',
  'CREATE INDEX i ON t (a)',
  'CREATE TABLE v (id bigint REFERENCES t)',
  'CREATE FUNCTION one() RETURNS int BEGIN ATOMIC SELECT 1; END',
  "COMMENT ON SCHEMA public IS 'x'",
  "INSERT INTO t VALUES (9, 'x', 'y', 1)",
  'UPDATE t SET a = b',
  'DELETE FROM ONLY t WHERE c = 1',
  'TRUNCATE t',
  'DROP TABLE t',
]

const LOCKS = [
  ...['', 'AccessShareLock', 'RowShareLock', 'RowExclusiveLock', 'ShareUpdateExclusiveLock', 'ShareLock'],
  ...['ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock'],
]
const spoken = (mode: string): string =>
  mode
    .replace(/Lock$/, '')
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .toUpperCase()

onEachEngine(
  'the plan of a run on PostgreSQL',
  (database) => {
    for (const sql of POSTGRES)
      it(`says what the server does: ${sql}`, async () => {
        const { url, rows } = database()
        await migrate({ url, files: { ...T, ...U } }).up()
        await rows("INSERT INTO t SELECT n, 'a', 'b' || n, 1 FROM generate_series(1, 3) AS n")
        const files = { ...T, ...U, ...file('0004_x', sql, '-- nothing') }
        const [version] = await migrate({ url, files }).plan()
        const [planned] = version?.statements ?? []

        const tableFile = () => rows("SELECT relfilenode AS node FROM pg_class WHERE oid = to_regclass('t')")
        const before = (await tableFile())[0]?.node
        await rows('BEGIN')
        await rows(sql)
        const held = await rows(
          `SELECT mode FROM pg_locks WHERE pid = pg_backend_pid() AND relation IN (to_regclass('t'), to_regclass('u'), ${before === undefined ? 0 : `(SELECT oid FROM pg_class WHERE relfilenode = ${String(before)})`})`,
        )
        const strongest = Math.max(0, ...held.map(({ mode }) => LOCKS.indexOf(String(mode))))
        const after = (await tableFile())[0]?.node
        await rows('ROLLBACK')
        const dropped = sql.startsWith('DROP') ? 'ACCESS EXCLUSIVE' : spoken(LOCKS[strongest] ?? '')
        expect(planned?.lock).to.equal(dropped)
        // TRUNCATE and DROP give the table another file, too.
        const isAnew = after !== undefined && after !== before && !sql.startsWith('TRUNCATE')
        expect(planned?.rows === 'rewritten').to.equal(isAnew)
        if (dropped !== '') expect(planned?.tables.map(({ name }) => name)).to.include('t')
      })
  },
  { dialects: ['postgres'] },
)

onEachEngine(
  'the plan of SET NOT NULL on PostgreSQL',
  (database) => {
    const NOT_NULL = 'ALTER TABLE t ADD CONSTRAINT d CHECK (a IS NOT NULL)'
    const VALIDATE = 'ALTER TABLE t VALIDATE CONSTRAINT d'
    const rowsOf = async (applied: readonly string[], ...pending: readonly string[]) => {
      const { url } = database()
      const one = (n: number, ...sql: readonly string[]) => file(`000${n}_x`, sql.join(';\n'), '-- nothing')
      const before = { ...T, ...one(3, ...applied) }
      await migrate({ url, files: before }).up()
      const [version] = await migrate({ url, files: { ...before, ...one(4, ...pending) } }).plan()
      return version?.statements.at(-1)?.rows
    }
    const SET = 'ALTER TABLE t ALTER COLUMN a SET NOT NULL'

    for (const [title, rows, applied, pending] of [
      ['a CHECK that this version validates', 'untouched', [`${NOT_NULL} NOT VALID`], [VALIDATE, SET]],
      ['one that an earlier version has validated', 'untouched', [`${NOT_NULL} NOT VALID`, VALIDATE], [SET]],
      ['one that was valid from the start', 'untouched', [NOT_NULL], [SET]],
      ['a CHECK that is not valid yet', 'read', [`${NOT_NULL} NOT VALID`], [SET]],
      ['one that is dropped', 'read', [NOT_NULL], ['ALTER TABLE t DROP CONSTRAINT d', SET]],
      ['one of another column', 'read', [NOT_NULL.replace('a IS', 'c IS')], [SET]],
      ['one that allows NULL', 'read', [NOT_NULL.replace(')', ' OR c > 0)')], [SET]],
    ] as const)
      it(`knows what becomes of the rows after ${title}`, async () => {
        expect(await rowsOf(applied, ...pending)).to.equal(rows)
      })
  },
  { dialects: ['postgres'] },
)

onEachEngine('the plan of a run', (database, dialect) => {
  const on = (sql: string) => ({ ...T, ...file('0003_x', sql, '-- nothing') })
  const planOf = async (sql: string) => {
    await migrate({ url: database().url, files: T }).up()
    const [version] = await migrate({ url: database().url, files: on(sql) }).plan()
    return version
  }

  it('has every version that is missing, and none that is applied', async () => {
    const files = { ...T, ...U }
    expect((await migrate({ url: database().url, files }).plan()).map(({ name }) => name)).to.deep.equal([
      '0002_t',
      '0003_u',
    ])
    await migrate({ url: database().url, files }).up()
    expect(await migrate({ url: database().url, files }).plan()).to.deep.equal([])
  })

  it('knows how large a table is', async () => {
    await migrate({ url: database().url, files: T }).up()
    await database().rows("INSERT INTO t VALUES (1, 'a', 'b', 1), (2, 'a', 'b', 1)")
    await database().rows(dialect === 'postgres' ? 'ANALYZE t' : 'ANALYZE TABLE t')
    const version = await planOf('-- ashlar:backfill chunk=7\nUPDATE t SET c = 2 WHERE c = 1')
    expect(version?.chunk).to.equal(7)
    const [{ tables: [table] = [], ...effect } = {}] = version?.statements ?? []
    expect(effect).to.include({ line: 2, blocks: 'the same rows', rows: 'written' })
    expect(table).to.have.nested.include({ name: 't', 'size.rows': 2 })
    expect(table?.size?.bytes).to.be.greaterThan(0)
  })

  it('knows that nobody waits for a table that the run makes, in whatever version', async () => {
    const { url } = database()
    const files = {
      ...T,
      ...file('0003_w', 'CREATE TABLE w (id bigint, t_id bigint); CREATE INDEX i ON w (id)', 'DROP TABLE w'),
      ...file('0004_w', 'ALTER TABLE w ADD COLUMN a int', '-- nothing'),
      ...file('0005_w', 'ALTER TABLE w ADD FOREIGN KEY (t_id) REFERENCES t (id)', '-- nothing'),
    }
    await migrate({ url, files: T }).up()
    const statements = (await migrate({ url, files }).plan()).flatMap((version) => version.statements)
    for (const one of statements.slice(0, 3))
      expect(one).to.deep.include({ lock: '', blocks: 'nothing', rows: 'untouched', tables: [], isNew: true })
    if (dialect === 'postgres') {
      expect(statements[3]).to.include({ lock: 'SHARE ROW EXCLUSIVE', isNew: false })
      expect(statements[3]?.tables.map(({ name }) => name)).to.deep.equal(['t'])
    }
  })

  it('does not take a table for new that is there, or that is not there and is not made', async () => {
    const [made, altered] =
      (await planOf('CREATE TABLE IF NOT EXISTS t (id bigint); ALTER TABLE t ADD COLUMN d int'))
        ?.statements ?? []
    expect([made?.isNew, altered?.isNew]).to.deep.equal([false, false])
    const [again, more] = (await planOf('DROP TABLE t; CREATE TABLE t (id bigint)'))?.statements ?? []
    expect([again?.isNew, more?.isNew]).to.deep.equal([false, true])
    const [indexed] = (await planOf('CREATE INDEX i ON w (id)'))?.statements ?? []
    expect(indexed).to.deep.include({ isNew: false, tables: [{ name: 'w', size: undefined }] })
  })

  it('says what a statement takes away for good, and what it breaks', async () => {
    await migrate({ url: database().url, files: T }).up()
    await database().rows("INSERT INTO t VALUES (1, 'a', 'b', 1), (2, 'a', 'b', 1)")
    await database().rows(dialect === 'postgres' ? 'ANALYZE t' : 'ANALYZE TABLE t')
    const [column, renamed, table] =
      (
        await planOf(
          '-- ashlar:allow ban-drop-column, renaming-column, ban-drop-table\n' +
            'ALTER TABLE t DROP COLUMN c;\nALTER TABLE t RENAME COLUMN a TO d;\nDROP TABLE t',
        )
      )?.statements ?? []
    expect(column?.loses).to.have.length(1)
    expect(column?.loses[0]).to.deep.nested.include({ what: 'column', name: 'c', table: 't', 'size.rows': 2 })
    expect(column?.breaks).to.include({ kind: 'rule', rule: 'ban-drop-column' })
    expect(renamed?.loses).to.deep.equal([])
    expect(renamed?.breaks).to.include({ kind: 'rule', rule: 'renaming-column' })
    expect(table?.loses[0]).to.include({ what: 'table', name: 't' })
  })

  it('says which rows a statement fails for, and which writes fail behind it', async () => {
    const unique =
      dialect === 'postgres'
        ? 'CREATE UNIQUE INDEX CONCURRENTLY k ON t (a, b)'
        : 'ALTER TABLE t ADD UNIQUE KEY k (a, b), ALGORITHM=INPLACE, LOCK=NONE'
    const [statement] = (await planOf(unique))?.statements ?? []
    expect(statement?.breaks).to.deep.equal({ kind: 'unique', columns: ['a', 'b'] })
    const [query = ''] = statement?.fails ?? []
    expect(query).to.match(/^SELECT a, b, count\(\*\) FROM .*t WHERE .* HAVING count\(\*\) > 1$/)
    expect(statement?.failsAfter).to.equal(undefined)
    expect(await database().rows(query)).to.deep.equal([])
    await database().rows("INSERT INTO t VALUES (1, 'a', 'b', 1), (2, 'a', 'b', 1)")
    expect(await database().rows(query)).to.have.length(1)
    const [unread] = (await planOf('ALTER TABLE t ADD COLUMN d int'))?.statements ?? []
    expect([unread?.fails, unread?.breaks]).to.deep.equal([[], undefined])
  })

  it('says which version adds what a query for such rows reads', async () => {
    await migrate({ url: database().url, files: T }).up()
    const type = dialect === 'postgres' ? 'ALTER COLUMN' : 'MODIFY'
    const required = (name: string) =>
      dialect === 'postgres' ? `ALTER ${name} SET NOT NULL` : `MODIFY ${name} int NOT NULL`
    const files = {
      ...T,
      ...file('0003_d', 'ALTER TABLE t ADD COLUMN d int;\nALTER TABLE t RENAME COLUMN c TO e', '-- no'),
      ...file('0004_d', `ALTER TABLE t ${required('d')}, ${required('e')}`, '-- no'),
      ...file('0005_f', `ALTER TABLE t ADD COLUMN f int;\nALTER TABLE t ${required('f')}`, '-- no'),
      ...file(
        '0006_a',
        `ALTER TABLE t ${type} a ${dialect === 'postgres' ? 'SET' : 'varchar(9)'} NOT NULL`,
        '-- no',
      ),
    }
    const plan = await migrate({ url: database().url, files }).plan()
    const last = plan.map(({ statements }) => statements.at(-1))
    expect(last.map((one) => [one?.fails.length, one?.failsAfter])).to.deep.equal([
      [0, undefined],
      [2, '0003_d'],
      [1, '0005_f'],
      [1, undefined],
    ])
  })

  it('says of an empty table that it has no rows, and not of one that the server has not counted', async () => {
    await migrate({ url: database().url, files: T }).up()
    const size = async () => (await planOf('UPDATE t SET c = 2'))?.statements[0]?.tables[0]?.size?.rows
    expect(await size()).to.equal(0)
    await database().rows(dialect === 'postgres' ? 'ANALYZE t' : 'ANALYZE TABLE t')
    expect(await size()).to.equal(0)
    await database().rows("INSERT INTO t VALUES (1, 'a', 'b', 1)")
    expect(await size()).to.not.equal(0)
  })

  it('does not wait for somebody who changes an empty table', async () => {
    await migrate({ url: database().url, files: T }).up()
    const isPostgres = dialect === 'postgres'
    if (isPostgres) await database().rows('BEGIN')
    await database().rows(isPostgres ? 'LOCK TABLE t IN ACCESS EXCLUSIVE MODE' : 'LOCK TABLES t WRITE')
    const planned = await planOf('UPDATE t SET c = 2')
    await database().rows(isPostgres ? 'ROLLBACK' : 'UNLOCK TABLES')
    const [table] = planned?.statements[0]?.tables ?? []
    expect(table).to.include({ name: 't' }).and.have.nested.property('size.rows', undefined)
  })

  if (dialect === 'postgres')
    it('says which statements wait for older transactions', async () => {
      const waits = async (sql: string) => (await planOf(sql))?.statements[0]?.waitsForOlder
      expect(await waits('CREATE INDEX CONCURRENTLY i ON t (a)')).to.equal(true)
      expect(await waits('DROP INDEX CONCURRENTLY i')).to.equal(true)
      expect(await waits('CREATE INDEX i ON t (a)')).to.equal(undefined)
      expect(await waits('REFRESH MATERIALIZED VIEW CONCURRENTLY v')).to.equal(undefined)
    })

  it('tells a column that comes back from one that does not', async () => {
    await migrate({ url: database().url, files: T }).up()
    const drop = '-- ashlar:allow ban-drop-column\nALTER TABLE t DROP COLUMN c'
    const back = 'ALTER TABLE t ADD COLUMN c int'
    const isBroughtBack = async (down: string) => {
      const files = { ...T, ...file('0003_x', drop, down) }
      const [version] = await migrate({ url: database().url, files }).plan()
      return version?.statements[0]?.loses.map((loss) => loss.isBroughtBack)
    }
    expect(await isBroughtBack(back)).to.deep.equal([false])
    expect(await isBroughtBack(`${back};\nUPDATE t SET c = 1`)).to.deep.equal([true])
  })

  it('says what goes with a trigger', async () => {
    const drop = dialect === 'postgres' ? 'DROP TRIGGER mirror ON t' : 'DROP TRIGGER mirror'
    const [statement] = (await planOf(drop))?.statements ?? []
    expect(statement?.breaks).to.include({ kind: 'trigger', name: 'mirror', when: undefined })
    const make =
      dialect === 'postgres'
        ? "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';\nCREATE TRIGGER mirror BEFORE INSERT OR UPDATE ON t FOR EACH ROW EXECUTE FUNCTION f()"
        : 'CREATE TRIGGER mirror BEFORE INSERT ON t FOR EACH ROW SET NEW.a = NEW.b'
    const events = dialect === 'postgres' ? 'BEFORE INSERT OR UPDATE' : 'BEFORE INSERT'
    const files = { ...T, ...file('0003_m', make, '-- no'), ...file('0004_x', drop, '-- no') }
    const ofFiles = (await migrate({ url: database().url, files }).plan()).at(-1)?.statements[0]
    for (const sql of make.split(';\n')) await database().rows(sql)
    const ofDatabase = (await planOf(drop))?.statements[0]
    for (const found of [ofFiles, ofDatabase]) {
      expect(found?.breaks).to.deep.equal({ kind: 'trigger', name: 'mirror', table: 't', when: events })
      expect(found?.tables.map(({ name }) => name)).to.deep.equal(['t'])
    }
  })

  if (dialect === 'mysql')
    it('leaves out the statements that an earlier run has done', async () => {
      const two = (last: string) => ({
        ...T,
        ...file('0003_x', `CREATE TABLE x (id bigint);\n${last}`, '-- no'),
      })
      await failureOf(migrate({ url: database().url, files: two('nonsense') }).up())
      const [version] = await migrate({
        url: database().url,
        files: two('CREATE TABLE y (id bigint)'),
      }).plan()
      expect(version).to.deep.include({ name: '0003_x', done: 1 })
      expect(version?.statements.map(({ line }) => line)).to.deep.equal([2])
    })

  it('says which versions are the framework’s', async () => {
    const mark = (dirty: boolean) =>
      database().rows(`UPDATE ashlar_migrations SET dirty = ${String(dirty)} WHERE version = 8001`)
    await mark(true)
    const versions = await migrate({ url: database().url, files: T }).plan()
    await mark(false)
    expect(versions.map(({ name, isFramework }) => [name, isFramework])).to.deep.equal([
      ['0002_t', false],
      ['8001_outbox_log', true],
    ])
  })

  if (dialect === 'mysql')
    for (const [sql, lock, blocks, rows] of [
      ['ALTER TABLE t ADD d int, ALGORITHM=INSTANT', 'metadata', MOMENT, 'untouched'],
      ['ALTER TABLE t ADD KEY (c), ALGORITHM=INPLACE, LOCK=NONE', 'metadata', MOMENT, 'read'],
      ['ALTER TABLE t MODIFY c int, ALGORITHM=INPLACE, LOCK=NONE', 'metadata', MOMENT, 'in place'],
      ['ALTER TABLE t MODIFY c bigint, ALGORITHM=COPY', 'SHARED', 'writes', 'rewritten'],
      [
        'ALTER TABLE t MODIFY c bigint',
        'chosen by the server, which may copy the table while writes wait: the statement names no ALGORITHM',
        'unknown',
        'unknown',
      ],
      ['CREATE INDEX i ON t (c)', 'metadata', MOMENT, 'read'],
      ['DROP TABLE t', 'metadata', 'reads and writes', 'untouched'],
      ['CREATE TABLE w (id bigint, FOREIGN KEY (id) REFERENCES t (id))', 'metadata', MOMENT, 'untouched'],
      ['CREATE VIEW v AS SELECT 1 AS one', '', 'nothing', 'untouched'],
      ['CALL p()', 'unknown', 'unknown', 'unknown'],
    ] as const)
      it(`says of ${sql}: ${lock || 'no lock'}`, async () => {
        expect((await planOf(sql))?.statements[0]).to.include({ lock, blocks, rows })
      })
})
