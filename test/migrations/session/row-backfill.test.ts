import { expect } from 'chai'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { DeclarationError } from '../../../lib/errors.js'
import {
  backfill,
  lintFiles,
  migrate,
  type MigrateOptions,
  type Progress,
} from '../../../lib/migrations/index.js'
import { compiled } from '../../support/root.js'
import { failureOf, file, onEachEngine, problemOf } from '../each-engine.js'
import { runHost } from '../hosts/run-host.js'

const LIBRARY = pathToFileURL(join(compiled, 'lib/migrations/index.js')).href
const STAYS = '-- the column goes with its table\n'

/** A file of a version, as somebody writes it. */
const moduleOf = (options: string): string =>
  `import { backfill } from '${LIBRARY}'\nexport default backfill({ ${options} })\n`

const REVERSED = `table: 't', reads: ['a', 'writes'], sets: ['b', 'writes'], chunk: 200,
  row: ({ a, writes }) => ({ b: [...String(a)].reverse().join(''), writes: writes + 1 })`

onEachEngine('a backfill whose values a function computes', (database, dialect) => {
  const text =
    dialect === 'postgres' ? 'text COLLATE "C"' : 'varchar(60) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin'
  const table = (key = 'id int PRIMARY KEY') =>
    file(
      '0002_t',
      `CREATE TABLE t (${key}, a ${text} NOT NULL, b ${text}, writes int NOT NULL DEFAULT 0)`,
      'DROP TABLE t',
    )
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ashlar-backfill-'))
    mkdirSync(join(folder, dialect))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  const ship = (files: Readonly<Record<string, string>>) => {
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, dialect, name), content)
  }
  const shipFill = (options: string) =>
    ship({ '0003_fill.up.js': moduleOf(options), '0003_fill.down.sql': STAYS })
  const migrator = (options: Partial<MigrateOptions> = {}) =>
    migrate({ url: database().url, files: folder, ...options })
  const rows = async (count: number, key?: string, row = (at: number) => `${at}, 'ab${at}'`) => {
    ship(table(key))
    await migrator().up()
    const names =
      key === undefined ? 'id' : [...key.matchAll(/(?:^|, )(k|id) /g)].map(([, name]) => name).join(', ')
    const values = Array.from({ length: count }, (_, at) => `(${row(at)})`)
    await database().rows(`INSERT INTO t (${names}, a) VALUES ${values.join(', ')}`)
  }
  const count = async (where: string) =>
    Number((await database().rows(`SELECT count(*) AS n FROM t WHERE ${where}`))[0]?.n)
  const isReversed =
    dialect === 'postgres' ? 'b = reverse(a) AND writes = 1' : 'b = REVERSE(a) AND writes = 1'

  it('goes through its table in chunks and writes each row once', async () => {
    await rows(1_000)
    shipFill(REVERSED)
    const seen: Progress[] = []
    const { applied } = await migrator({ onProgress: (event) => seen.push(event) }).up()
    expect(applied).to.deep.equal(['0003_fill'])
    expect(await count(isReversed)).to.equal(1_000)
    const chunks = seen.flatMap((event) => (event.kind === 'filled' ? [event] : []))
    expect(chunks.at(-1)).to.include({ walked: 1_000, rows: 1_000 })
    expect(Math.max(...chunks.map(({ chunk }) => chunk))).to.be.within(100, 200)
    expect(await migrator().verify()).to.deep.equal([])
    expect((await migrator().up()).applied).to.deep.equal([])
  })

  it('goes on behind the last chunk when its host is killed', async () => {
    await rows(1_500)
    shipFill(REVERSED)
    const orders = { options: { url: database().url, files: folder } }
    expect(await runHost({ ...orders, die: { at: 3, when: 'chunk' } })).to.equal(undefined)
    const written = await count('writes = 1')
    expect(written).to.be.within(1, 1_499)
    expect(await runHost({ ...orders, die: { at: 2, when: 'chunk' } })).to.equal(undefined)
    expect(await count('writes = 1')).to.be.greaterThan(written)
    await migrator().up()
    expect(await count(isReversed)).to.equal(1_500)
  })

  it('leaves rows and columns alone that it is not told of, and writes every kind of value', async () => {
    await rows(4)
    const kinds =
      dialect === 'postgres' ? ['bytea', 'timestamptz', 'boolean'] : ['blob', 'datetime(6)', 'boolean']
    await database().rows(
      `ALTER TABLE t ADD COLUMN huge bigint, ADD COLUMN raw ${kinds[0]}, ADD COLUMN seen ${kinds[1]}, ADD COLUMN flag ${kinds[2]}, ADD COLUMN half double precision`,
    )
    shipFill(`table: 't', reads: ['id', 'b'], sets: ['huge', 'raw', 'seen', 'flag', 'half', 'b'],
      row: async ({ id, b }) => id === 2 ? undefined : id === 3 ? {} : {
        huge: 9007199254740993n, raw: new Uint8Array([0, 255]), seen: new Date('2024-02-29T12:34:56.789Z'), flag: true, half: 0.5,
        b: b === null && id === 1 ? null : "it's ? \\\\" }`)
    await migrator().up()
    const hex = dialect === 'postgres' ? `encode(raw, 'hex')` : 'LOWER(HEX(raw))'
    const written = await database().rows(
      `SELECT id, CAST(huge AS CHAR(20)) AS huge, ${hex} AS hex, seen, half, b FROM t WHERE flag ORDER BY id`,
    )
    expect(
      written.map((row) => ({ ...row, huge: String(row.huge).trim(), id: Number(row.id) })),
    ).to.deep.equal(
      [0, 1].map((id) => ({
        id,
        huge: '9007199254740993',
        hex: '00ff',
        seen: new Date('2024-02-29T12:34:56.789Z'),
        half: 0.5,
        b: id === 1 ? null : "it's ? \\",
      })),
    )
    expect(await count('huge IS NULL AND b IS NULL')).to.equal(2)
  })

  for (const [key, row] of [
    [
      `k ${text}, id bigint, PRIMARY KEY (k, id)`,
      (at: number) => `'it''s ? "\\ ä${at % 3}', ${9007199254740993n + BigInt(at)}, 'x${at}'`,
    ],
    [
      dialect === 'postgres'
        ? 'k bytea, id int, PRIMARY KEY (k, id)'
        : 'k varbinary(9), id int, PRIMARY KEY (k, id)',
      (at: number) =>
        dialect === 'postgres'
          ? `'\\x00ff${at % 10}0', ${at}, 'x${at}'`
          : `X'00ff${at % 10}0', ${at}, 'x${at}'`,
    ],
  ] as const)
    it(`finds its rows again by PRIMARY KEY of ${key}`, async () => {
      await rows(300, key, row)
      shipFill(REVERSED.replace('200', '7'))
      await migrator().up()
      expect(await count(isReversed)).to.equal(300)
    })

  it('is dirty with the row at which its function fails, and goes on there once that is corrected', async () => {
    await rows(300)
    shipFill(
      REVERSED.replace(
        '({ a, writes }) => (',
        `({ a, writes }) => { if (a === 'ab250') throw new Error('not this one'); return (`,
      ).replace(/\)$/, ') }'),
    )
    const failure = problemOf(await failureOf(migrator().up()))
    expect(failure).to.deep.nested.include({
      kind: 'chunkFailed',
      ...{ 'cause.kind': 'backfillRow', 'cause.file': '0003_fill.up.js' },
      ...{ 'cause.row': 'id 250', 'cause.why': 'not this one', 'remains.kind': 'chunk' },
    })
    const written = await count('writes = 1')
    expect(written).to.be.within(1, 299)
    expect(failure).to.deep.nested.include({
      ...{ 'remains.behind': [{ column: 'id', value: String(written - 1) }], 'remains.written': written },
    })
    expect((await migrator().status()).find(({ version }) => version === 3)).to.include({ state: 'dirty' })
    shipFill(REVERSED)
    await migrator().up()
    expect(await count(isReversed)).to.equal(300)
  })

  for (const [what, options, why] of [
    ['another column', `row: () => ({ writes: 1, b: 'x' })`, 'row sets b, which sets does not list'],
    [
      'an object',
      `row: () => ({ writes: { one: 1 } })`,
      'writes is given a value that a column cannot store',
    ],
    ['no object', `row: () => 7`, 'row must return an object with column values, or undefined'],
  ] as const)
    it(`refuses ${what} from its function, and writes nothing`, async () => {
      await rows(3)
      shipFill(`table: 't', reads: [], sets: ['writes'], ${options}`)
      const failure = problemOf(await failureOf(migrator().up()))
      expect(failure).to.have.nested.property('cause.why').that.includes(why)
      expect(await count('writes = 0 AND b IS NULL')).to.equal(3)
    })

  it('refuses to move rows', async () => {
    await rows(3)
    shipFill(`table: 't', reads: ['id'], sets: ['id'], row: ({ id }) => ({ id: id + 1 })`)
    const failure = problemOf(await failureOf(migrator().up()))
    expect(failure).to.include({ kind: 'backfillMovesKey', column: 'id' })
  })

  it('is an applied version like any other: an edit is refused, the plan tells it, and a bundle has it too', async () => {
    await rows(3)
    shipFill(REVERSED)
    const [planned] = await migrator().plan()
    expect(planned).to.include({ name: '0003_fill', chunk: 200 })
    await migrator().up()
    shipFill(REVERSED.replace('reverse()', 'sort()'))
    const failure = problemOf(await failureOf(migrator().up()))
    expect(failure).to.have.property('kind', 'edited')
    expect(failure).to.have.nested.include({ 'files[0].file': '0003_fill.up.js' })
    expect((await migrator().edited()).map(({ name }) => name)).to.deep.equal(['0003_fill'])
    await migrator().down()
    const bundled = backfill({ table: 't', reads: ['a'], sets: ['b'], row: ({ a }) => ({ b: String(a) }) })
    const files = { ...table(), '0003_fill.up.ts': bundled, '0003_fill.down.sql': STAYS }
    await migrate({ url: database().url, files }).up()
    expect(await count('b = a')).to.equal(3)
  })
})

describe('a file with a backfill', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ashlar-backfill-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  const refusal = async (name: string, content: string) => {
    writeFileSync(join(folder, name), content)
    writeFileSync(join(folder, '0002_fill.down.sql'), STAYS)
    const failure = await failureOf(lintFiles(folder, 'postgres'))
    expect(failure).to.be.instanceOf(DeclarationError)
    return problemOf(failure)
  }

  it('is refused with what is wrong', async () => {
    const name = '0002_fill.up.js'
    const of = { file: name }
    expect(await refusal(name, 'export default 7')).to.include({
      ...of,
      kind: 'noBackfill',
      hasDefault: true,
    })
    expect(await refusal(name, 'export const one = 1')).to.include({ ...of, hasDefault: false })
    const torn = await refusal(name, 'export default (')
    expect(torn).to.include({ ...of, kind: 'notLoaded', isImport: false })
    const alone = await refusal(name, "export { a as default } from 'nosuch'")
    expect(alone).to.include({ ...of, kind: 'notLoaded', isImport: true })
    expect(alone).to.have.property('why').that.includes('nosuch')
    const wrong = await refusal(name, moduleOf(`table: 'a.b.c', reads: [''], sets: [], chunk: 0`))
    expect(wrong).to.have.property(
      'why',
      'backfill: table must be a name, or a schema and a name separated by a dot; reads must list columns by name; sets must list at least one column by name; chunk must be 1 to 100000 rows; row must be a function',
    )
  })

  it('stands alone for its version', async () => {
    writeFileSync(join(folder, '0002_fill.up.sql'), 'SELECT 1')
    const filled = moduleOf(`table: 't', reads: [], sets: ['a'], row: () => undefined`)
    const problem = await refusal('0002_fill.up.js', filled)
    expect(problem).to.have.property('kind', 'twoUpMigrations')
    expect([problem?.['file'], problem?.['other']]).to.have.members(['0002_fill.up.js', '0002_fill.up.sql'])
  })

  it('is TypeScript where Node.js loads it, and says so where it does not', async () => {
    const typed = `${moduleOf(`table: 't', reads: [], sets: ['a'], row: () => undefined`)}export type Row = { a: string }\n`
    const { typescript = false } = process.features as { readonly typescript?: string | false }
    if (typescript === false) {
      expect(await refusal('0002_fill.up.ts', typed)).to.have.property('kind', 'noTypeScript')
      return
    }
    writeFileSync(join(folder, '0002_fill.up.ts'), typed)
    writeFileSync(join(folder, '0002_fill.down.sql'), STAYS)
    expect(await lintFiles(folder, 'postgres')).to.deep.equal([])
  })
})
