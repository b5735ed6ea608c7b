import { expect } from 'chai'
import { DeclarationError } from '../../../lib/errors.js'
import { migrate, type MigrateOptions, type Progress } from '../../../lib/migrations/index.js'
import { failureOf, file, onEachEngine, problemOf, tables } from '../each-engine.js'
import { untilRow } from '../fresh-database.js'

const INDEX = file('0003_i', 'CREATE INDEX CONCURRENTLY i ON t2 (id)', 'DROP INDEX CONCURRENTLY i')
const TWICE = 'INSERT INTO t2 VALUES (1), (2)'

onEachEngine(
  'a file that runs outside of a transaction',
  (database) => {
    const migrator = (files: MigrateOptions['files'], options: Partial<MigrateOptions> = {}) =>
      migrate({ url: database().url, files, ...options })
    const indexes = async () =>
      (
        await database().rows(
          "SELECT indexrelid::regclass::text || CASE WHEN indisvalid THEN '' ELSE ' INVALID' END AS name FROM pg_index WHERE indrelid = to_regclass('t2') ORDER BY 1",
        )
      ).map(({ name }) => String(name))
    const rowOf = async (version: number) =>
      (await database().rows(`SELECT * FROM ashlar_migrations WHERE version = ${version}`))[0]

    const MIXED = [
      'CREATE INDEX CONCURRENTLY i ON t2 (id); SELECT 1',
      'SELECT 1; CREATE UNIQUE INDEX CONCURRENTLY i ON t2 (id)',
      'CREATE INDEX CONCURRENTLY i ON t2 (id); CREATE INDEX CONCURRENTLY j ON t2 (id)',
      'DROP INDEX CONCURRENTLY i; DROP TABLE t2',
      'REINDEX TABLE CONCURRENTLY t2; SELECT 1',
      'VACUUM; SELECT 1',
    ]
    for (const sql of MIXED)
      it(`fails before anything is changed when it has more than that: ${sql}`, async () => {
        const failure = await failureOf(migrator({ ...tables(2), ...file('0003_i', sql, '') }).up())
        expect(failure).to.be.instanceOf(DeclarationError)
        expect(problemOf(failure)).to.include({ kind: 'refused', rule: 'non-transactional' })
        expect(await database().tables()).to.not.include('t2')
      })

    it('builds an index and drops it again', async () => {
      expect((await migrator({ ...tables(2), ...INDEX }).up()).applied).to.deep.equal(['0002_t2', '0003_i'])
      expect(await indexes()).to.deep.equal(['i', 't2_pkey'])
      expect((await migrator({}).down(2)).rolledBack).to.deep.equal(['0003_i'])
      expect(await indexes()).to.deep.equal(['t2_pkey'])
    })

    const OTHERS = [
      'VACUUM ANALYZE t2',
      'REINDEX TABLE CONCURRENTLY t2',
      'REINDEX (CONCURRENTLY) INDEX t2_pkey',
      'DROP INDEX CONCURRENTLY IF EXISTS nothing',
      'CLUSTER',
    ]
    for (const sql of OTHERS)
      it(`runs ${sql}`, async () => {
        const files = { ...tables(2), ...file('0003_i', sql, '') }
        expect((await migrator(files).up()).applied).to.deep.equal(['0002_t2', '0003_i'])
      })

    it('detaches a partition', async () => {
      const parent = file(
        '0002_p',
        'CREATE TABLE p (id bigint) PARTITION BY LIST (id); CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1)',
        'DROP TABLE p, p1',
      )
      const detach = file('0003_d', 'ALTER TABLE p DETACH PARTITION p1 CONCURRENTLY', '')
      await migrator({ ...parent, ...detach }).up()
      expect(
        await database().rows("SELECT 1 FROM pg_inherits WHERE inhparent = 'p'::regclass"),
      ).to.deep.equal([])
    })

    it('waits for open transactions for longer than the lock and the statement timeout', async () => {
      await migrator(tables(2)).up()
      await database().rows('BEGIN; LOCK TABLE t2 IN ROW EXCLUSIVE MODE')
      const run = migrator({ ...tables(2), ...INDEX }, { lockTimeoutMs: 50, statementTimeoutMs: 100 }).up()
      run.catch(() => undefined)
      await untilRow(
        database(),
        `SELECT 1 FROM pg_stat_activity WHERE query LIKE 'CREATE INDEX CONCURRENTLY%' AND wait_event_type = 'Lock'
           AND clock_timestamp() - query_start > interval '300 ms'`,
      )
      await database().rows('COMMIT')
      expect((await run).applied).to.deep.equal(['0003_i'])
    })

    it('is ended by its own timeout, and the next run drops the INVALID index first', async () => {
      await migrator(tables(2)).up()
      await database().rows('BEGIN; LOCK TABLE t2 IN ROW EXCLUSIVE MODE')
      const files = { ...tables(2), ...INDEX }
      const failure = await failureOf(migrator(files, { concurrentTimeoutMs: 200 }).up())
      expect(failure.message).to.match(/statement timeout/)
      expect(failure).to.have.deep.nested.property('problem.remains', { kind: 'index' })
      await database().rows('COMMIT')
      expect(await indexes()).to.include('i INVALID')
      const [dirty, left, ...more] = await migrator(files).verify()
      expect(dirty).to.include({ kind: 'dirty', version: '0003_i' })
      expect(left).to.include({ kind: 'invalidIndex', index: 'public.i', leftBy: '0003_i' })
      expect(more).to.deep.equal([])
      await migrator(files).up()
      expect(await indexes()).to.deep.equal(['i', 't2_pkey'])
      expect(await migrator(files).verify()).to.deep.equal([])
    })

    it('says who keeps it from dropping the INVALID index', async () => {
      await migrator(tables(2)).up()
      const files = { ...tables(2), ...INDEX }
      await database().rows('BEGIN; LOCK TABLE t2 IN ROW EXCLUSIVE MODE')
      await failureOf(migrator(files, { concurrentTimeoutMs: 200 }).up())
      const said: Progress[] = []
      let isOver: Promise<unknown> | undefined
      const onProgress = (event: Progress) => {
        said.push(event)
        if (event.kind === 'running') isOver ??= database().rows('COMMIT')
      }
      await migrator(files, { onProgress }).up()
      await isOver
      const ofVersion = said.filter(({ kind }) => kind === 'recovering' || kind === 'running')
      expect(ofVersion[1]).to.have.deep.property('how', { kind: 'dropsIndex', index: 'i', leftBy: 'build' })
      expect(ofVersion[2]).to.include({ kind: 'running', version: '0003_i' })
      expect(ofVersion[2])
        .to.have.property('waitsFor')
        .that.match(/^process \d+ /)
      expect(await indexes()).to.deep.equal(['i', 't2_pkey'])
    })

    const unique = (column: string, name = 'i') =>
      file(
        '0003_i',
        `CREATE UNIQUE INDEX CONCURRENTLY ${name} ON t2 (${column})`,
        `DROP INDEX CONCURRENTLY ${name}`,
      )
    const twoColumns = file('0002_t2', 'CREATE TABLE t2 (id bigint, a bigint DEFAULT 0)', 'DROP TABLE t2')

    it('drops an INVALID index of another name when the corrected file has that name no more', async () => {
      await migrator(twoColumns).up()
      await database().rows(TWICE)
      const failure = await failureOf(migrator({ ...twoColumns, ...unique('a') }).up())
      expect(failure.message).to.match(/could not create unique index/)
      expect(await rowOf(3)).to.include({ dirty: true })
      expect(await indexes()).to.deep.equal(['i INVALID'])
      await migrator({ ...twoColumns, ...unique('id', 'j') }).up()
      expect(await indexes()).to.deep.equal(['j'])
    })

    it('drops the INVALID index when the corrected file is a transaction', async () => {
      await migrator(twoColumns).up()
      await database().rows(TWICE)
      await failureOf(migrator({ ...twoColumns, ...unique('a') }).up())
      await migrator({ ...twoColumns, ...file('0003_i', 'CREATE INDEX i ON t2 (a)', 'DROP INDEX i') }).up()
      expect(await indexes()).to.deep.equal(['i'])
    })

    it('is rolled back to nothing when it failed', async () => {
      await migrator(twoColumns).up()
      await database().rows(TWICE)
      await failureOf(migrator({ ...twoColumns, ...unique('a') }).up())
      expect((await migrator({}).down(2)).rolledBack).to.deep.equal(['0003_i'])
      expect(await indexes()).to.deep.equal([])
    })

    it('takes no INVALID index for its own, IF NOT EXISTS or not', async () => {
      await migrator(twoColumns).up()
      await database().rows(TWICE)
      await failureOf(database().rows('CREATE UNIQUE INDEX CONCURRENTLY i ON t2 (a)'))
      const files = {
        ...twoColumns,
        ...file('0003_i', 'CREATE INDEX CONCURRENTLY IF NOT EXISTS i ON t2 (a)', 'DROP INDEX CONCURRENTLY i'),
      }
      expect(problemOf(await failureOf(migrator(files).up()))).to.include({
        ...{ kind: 'invalidIndexThere', index: 'i' },
      })
      await migrator(files).up()
      expect(await indexes()).to.deep.equal(['i'])
    })

    it('does not touch a valid index that was there before', async () => {
      await migrator(tables(2)).up()
      await database().rows('CREATE INDEX i ON t2 (id)')
      for (let run = 0; run < 2; run++)
        expect((await failureOf(migrator({ ...tables(2), ...INDEX }).up())).message).to.match(
          /"i" already exists/,
        )
      expect(await indexes()).to.deep.equal(['i', 't2_pkey'])
    })

    /** Ends a run whose file has come so far. */
    const cutOff = async (files: MigrateOptions['files'], hasBegun: string) => {
      const ending = new AbortController()
      const failure = failureOf(migrator(files, { signal: ending.signal }).up())
      await untilRow(database(), hasBegun)
      ending.abort()
      await failure
    }

    /** What the table says when the host died in the middle: dirty, and no error. */
    const interrupted = (statementsDone: number) =>
      database().rows(
        `UPDATE ashlar_migrations SET dirty = true, error = NULL, statements_done = ${statementsDone} WHERE version = 3`,
      )

    it('that a dying host had finished is not run again', async () => {
      await migrator({ ...tables(2), ...INDEX }).up()
      const [before] = await database().rows("SELECT 'i'::regclass::oid AS oid")
      await interrupted(0)
      expect((await migrator({ ...tables(2), ...INDEX }).up()).applied).to.deep.equal(['0003_i'])
      expect(await database().rows("SELECT 'i'::regclass::oid AS oid")).to.deep.equal([before])
    })

    it('that a dying host had finished is built anew when the file says something else', async () => {
      await migrator({ ...twoColumns, ...unique('id') }).up()
      await interrupted(0)
      await migrator({ ...twoColumns, ...file('0003_i', 'CREATE INDEX CONCURRENTLY i ON t2 (a)', '') }).up()
      const [row] = await database().rows("SELECT pg_get_indexdef('i'::regclass) AS made")
      expect(row?.made).to.match(/CREATE INDEX i ON public\.t2 USING btree \(a\)/)
    })

    it('whose rollback a dying host had finished is applied again, or stays rolled back', async () => {
      const files = { ...tables(2), ...INDEX }
      await migrator(files).up()
      await database().rows('DROP INDEX i')
      await interrupted(-1)
      expect((await migrator(files).up()).applied).to.deep.equal(['0003_i'])
      expect(await indexes()).to.include('i')
      await database().rows('DROP INDEX i')
      await interrupted(-1)
      expect((await migrator(files).down(2)).rolledBack).to.deep.equal(['0003_i'])
      expect(await rowOf(3)).to.equal(undefined)
    })

    it('whose rollback a dying host had not begun is still applied', async () => {
      const files = { ...tables(2), ...INDEX }
      await migrator(files).up()
      await interrupted(-1)
      expect((await migrator(files).up()).applied).to.deep.equal([])
      expect(await migrator(files).verify()).to.deep.equal([])
    })

    it('finishes what a dying host began to detach', async () => {
      const parent = file(
        '0002_p',
        'CREATE TABLE p (id bigint) PARTITION BY LIST (id); CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1)',
        'DROP TABLE p, p1',
      )
      const files = { ...parent, ...file('0003_d', 'ALTER TABLE p DETACH PARTITION p1 CONCURRENTLY', '') }
      await migrator(parent).up()
      await database().rows('BEGIN; SELECT * FROM p')
      await cutOff(files, 'SELECT 1 FROM pg_inherits WHERE inhdetachpending')
      await database().rows('COMMIT')
      expect(await database().rows('SELECT inhdetachpending AS pending FROM pg_inherits')).to.deep.equal([
        { pending: true },
      ])
      await migrator(files).up()
      expect(await database().rows('SELECT 1 FROM pg_inherits')).to.deep.equal([])
    })

    it('drops what a REINDEX that was cut off left behind', async () => {
      await migrator(tables(2)).up()
      const files = { ...tables(2), ...file('0003_i', 'REINDEX INDEX CONCURRENTLY t2_pkey', '') }
      await database().rows('BEGIN; LOCK TABLE t2 IN ROW EXCLUSIVE MODE')
      await cutOff(files, "SELECT 1 FROM pg_class WHERE relname = 't2_pkey_ccnew'")
      await database().rows('COMMIT')
      expect(await indexes()).to.deep.equal(['t2_pkey', 't2_pkey_ccnew INVALID'])
      await migrator(files).up()
      expect(await indexes()).to.deep.equal(['t2_pkey'])
    })
  },
  { dialects: ['postgres'] },
)
