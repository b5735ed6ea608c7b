import { expect } from 'chai'
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ENGINES } from '../../../lib/migrations/engines.js'
import { DeclarationError } from '../../../lib/errors.js'
import { type FileSource, readMigrations } from '../../../lib/migrations/files/migration-files.js'

const OK = { '0002_a.up.sql': 'SELECT 1', '0002_a.down.sql': 'SELECT 2' }

const TWO = { kind: 'duplicateNumber', versions: ['0002_a', '0002_b'] }
const REFUSED: readonly (readonly [
  name: string,
  files: Readonly<Record<string, string>>,
  problem: object,
])[] = [
  ['a number of three digits', { '002_a.up.sql': '' }, { kind: 'badNumber', hasFourDigits: false }],
  ['a number of five digits', { '00002_a.up.sql': '' }, { kind: 'badNumber', hasFourDigits: false }],
  ['no number', { 'a.up.sql': '' }, { kind: 'badlyNamed', file: 'a.up.sql' }],
  ['no direction', { '0002_a.sql': '' }, { kind: 'badlyNamed', file: '0002_a.sql' }],
  ['no description', { '0002.up.sql': '' }, { kind: 'badlyNamed', file: '0002.up.sql' }],
  ['a blank in the name', { '0002_a b.up.sql': '' }, { kind: 'badlyNamed' }],
  ['the number 0000', { '0000_a.up.sql': '' }, { kind: 'badNumber', hasFourDigits: true }],
  ['the number 8000', { '8000_a.up.sql': '' }, { kind: 'badNumber', hasFourDigits: true }],
  ['the number 9000', { '9000_a.up.sql': '' }, { kind: 'badNumber', hasFourDigits: true }],
  ['a gap', { ...OK, '0004_b.up.sql': '' }, { kind: 'gap', missing: 3, before: 4, isByHand: true }],
  ['a gap at the start', { '0003_a.up.sql': '' }, { kind: 'gap', missing: 2, before: 3 }],
  [
    'a gap in the generated files',
    { '9002_a_search_gin.up.sql': '' },
    { kind: 'gap', missing: 9001, before: 9002, isByHand: false },
  ],
  ['two files of one number', { ...OK, '0002_b.up.sql': '' }, TWO],
  ['up migrations and down of two names', { ...OK, '0002_b.down.sql': '' }, TWO],
  ['a down migration alone', { '0002_a.down.sql': '' }, { kind: 'noUpMigration', version: '0002_a' }],
  ['a module that starts at 0001', { '0001_a.up.sql': '' }, { kind: 'reserved', version: '0001_a' }],
  [
    'an edited baseline',
    { '0001_framework_init.up.sql': 'x' },
    { kind: 'reserved', version: '0001_framework_init' },
  ],
  [
    'a module in the band of upgrades',
    { ...OK, '8001_a.up.sql': '' },
    { kind: 'reserved', version: '8001_a' },
  ],
  ['a NUL character', { '0002_a.up.sql': 'a\0', '0002_a.down.sql': '' }, { kind: 'hasNul' }],
  [
    'files for another engine alone',
    { 'mysql/0002_a.up.sql': '' },
    { kind: 'noFileFor', prefix: 'postgres/' },
  ],
]

describe('readMigrations', () => {
  let folder: string

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ashlar-files-'))
  })

  afterEach(() => {
    rmSync(folder, { recursive: true })
  })

  const write = (files: Readonly<Record<string, string | Buffer>>) => {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  }
  const namesOf = async (files: FileSource, dialect: 'postgres' | 'mysql' = 'postgres') =>
    (await readMigrations(files, ENGINES[dialect])).map(({ name }) => name)

  it('puts the framework’s baseline before the module’s first file', async () => {
    expect(await namesOf(OK)).to.deep.equal(['0001_framework_init', '0002_a', '8001_outbox_log'])
    expect(await namesOf({}, 'mysql')).to.deep.equal(['0001_framework_init', '8001_outbox_log'])
  })

  it('reads a folder, given as a path or a URL, and passes over what is no SQL', async () => {
    write({ ...OK, 'README.md': 'x', '.gitkeep': '' })
    expect(await namesOf(folder)).to.deep.equal(['0001_framework_init', '0002_a', '8001_outbox_log'])
    expect(await namesOf(pathToFileURL(folder))).to.deep.equal([
      '0001_framework_init',
      '0002_a',
      '8001_outbox_log',
    ])
  })

  it('takes the files of its engine from a folder or an object that has both', async () => {
    mkdirSync(join(folder, 'postgres'))
    mkdirSync(join(folder, 'mysql'))
    write({ 'postgres/0002_p.up.sql': '', 'mysql/0002_m.up.sql': '' })
    const object = { 'postgres/0002_p.up.sql': '', 'mysql/0002_m.up.sql': '' }
    for (const source of [folder, object]) {
      expect(await namesOf(source)).to.include('0002_p')
      expect(await namesOf(source, 'mysql')).to.include('0002_m')
    }
  })

  it('accepts a copy of the baseline that is the baseline', async () => {
    const [baseline] = await readMigrations({}, ENGINES.postgres)
    expect(await namesOf({ ...OK, '0001_framework_init.up.sql': baseline?.up ?? '' })).to.have.length(3)
  })

  it('sorts the bands by their numbers', async () => {
    const files = {
      ...OK,
      '9001_t_search_vector.up.sql': '',
      '9002_t_search_gin.up.sql': '',
      '0003_b.up.sql': '',
    }
    expect(await namesOf(files)).to.deep.equal([
      ...['0001_framework_init', '0002_a', '0003_b'],
      ...['8001_outbox_log', '9001_t_search_vector', '9002_t_search_gin'],
    ])
  })

  it('ignores generated search files on MySQL', async () => {
    const files = { ...OK, '9001_t_search_vector.up.sql': '', '9002_t_search_gin.up.sql': '' }
    expect(await namesOf(files, 'mysql')).to.deep.equal(['0001_framework_init', '0002_a', '8001_outbox_log'])
  })

  it('gives one checksum to CRLF, LF and a byte order mark, and another to other text', async () => {
    const checksum = async (text: string) => {
      write({ '0002_a.up.sql': text })
      return (await readMigrations(folder, ENGINES.postgres))[1]?.checksum
    }
    const unix = await checksum('SELECT\n1')
    expect(await checksum('\uFEFFSELECT\r\n1')).to.equal(unix)
    expect(await checksum('SELECT\n2')).to.not.equal(unix)
  })

  it('says when a down migration is not there', async () => {
    const [, migration] = await readMigrations({ '0002_a.up.sql': 'x' }, ENGINES.postgres)
    expect(migration?.down).to.equal(undefined)
  })

  for (const [name, files, problem] of REFUSED)
    it(`refuses ${name}`, async () => {
      const error: unknown = await readMigrations(files, ENGINES.postgres).catch((reason: unknown) => reason)
      expect(error).to.be.instanceOf(DeclarationError)
      expect((error as DeclarationError).values[0]).to.deep.include(problem)
    })

  it('tells every problem at once', async () => {
    const files = { 'a.up.sql': '', '002_b.up.sql': '', '0004_c.up.sql': '' }
    const error: unknown = await readMigrations(files, ENGINES.postgres).catch((reason: unknown) => reason)
    expect((error as DeclarationError).problems).to.have.length(3)
  })

  it('refuses bytes that are no UTF-8, and a file or folder that cannot be read', async () => {
    write({ '0002_a.up.sql': Buffer.from([0x53, 0xff]) })
    const other = join(folder, 'other')
    mkdirSync(join(other, '0002_b.up.sql'), { recursive: true })
    for (const [source, problem] of [
      [folder, { kind: 'notUtf8', file: '0002_a.up.sql' }],
      [other, { kind: 'unreadable', file: '0002_b.up.sql', code: 'EISDIR' }],
      [join(folder, 'nowhere'), { kind: 'noFolder', folder: join(folder, 'nowhere') }],
    ] as const) {
      const error: unknown = await readMigrations(source, ENGINES.postgres).catch((reason: unknown) => reason)
      expect(error).to.be.instanceOf(DeclarationError)
      expect((error as DeclarationError).values).to.have.length(1)
      expect((error as DeclarationError).values[0]).to.include(problem)
    }
  })
})
