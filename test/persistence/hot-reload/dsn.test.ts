import { expect } from 'chai'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Unavailable } from '../../../lib/errors.js'
import {
  checkDsn,
  parseHotDsn,
  redactDsn,
  resolveDsn,
  withPassword,
} from '../../../lib/persistence/hot-reload/dsn.js'
import { rejection } from '../../support/rejection.js'

describe('parseHotDsn', () => {
  const files: readonly (readonly [dsn: string, driver: string, path: string])[] = [
    ['fsnotify://postgres/etc/secrets/dsn', 'postgres', '/etc/secrets/dsn'],
    ['fsnotify://mysql/run/dsn.txt', 'mysql', '/run/dsn.txt'],
    ['fsnotify://sqlite/var/lib/app/dsn', 'sqlite', '/var/lib/app/dsn'],
    ['fsnotify://postgres//etc//secrets/dsn', 'postgres', '/etc/secrets/dsn'],
    ['fsnotify://postgres/a%20b/c%3Fd%23e', 'postgres', '/a b/c?d#e'],
    ['fsnotify://mysql/a/..data/dsn', 'mysql', '/a/..data/dsn'],
    ['  FSNOTIFY://mysql/dsn\n', 'mysql', '/dsn'],
  ]
  for (const [dsn, driver, path] of files)
    it(`reads ${JSON.stringify(dsn)}`, () => {
      expect(parseHotDsn(dsn)).to.deep.equal({ driver, path })
    })

  it('leaves any other text alone', () => {
    expect(['', 'postgres://h/d', '/etc/dsn', 'xfsnotify://mysql/a'].map(parseHotDsn)).to.deep.equal(
      Array.from({ length: 4 }),
    )
  })

  const refused: readonly (readonly [dsn: string, why: RegExp])[] = [
    ['fsnotify:', /write fsnotify:\/\/<driver>/],
    ['fsnotify:/postgres/etc/dsn', /write fsnotify:\/\/<driver>/],
    ['fsnotify://', /the driver is not one of postgres, mysql, sqlite/],
    ['fsnotify:///etc/dsn', /the driver is not one of/],
    ['fsnotify://oracle/etc/dsn', /the driver "oracle" is not one of/],
    ['fsnotify://Postgres/etc/dsn', /the driver "Postgres" is not one of/],
    ['fsnotify://ada:hunter2@postgres/etc/dsn', /the driver is not one of/],
    ['fsnotify://postgres://ada:hunter2@db/app', /the driver is not one of/],
    ['fsnotify://postgres', /the path of the file is missing/],
    ['fsnotify://postgres/', /the path of the file is missing/],
    ['fsnotify://postgres/etc/secrets/', /names a folder/],
    ['fsnotify://postgres/etc/../dsn', /must not contain \. or \.\. segments/],
    ['fsnotify://postgres/etc/%2e%2e/dsn', /must not contain \. or \.\. segments/],
    ['fsnotify://postgres/etc/dsn?force=hunter2', /nothing may follow the path/],
    ['fsnotify://postgres/etc/dsn#hunter2', /nothing may follow the path/],
    ['fsnotify://postgres/etc/%zz', /starts no percent-encoding/],
    ['fsnotify://postgres/etc/%00', /NUL/],
    ['fsnotify://postgres/etc/\0dsn', /NUL/],
    ['fsnotify://postgres/./dsn', /must not contain \. or \.\. segments/],
    ['fsnotify://dsn', /the driver "dsn" is not one of .*: fsnotify:\/\/<driver>\/<absolute path>/],
    ['fsnotify:dsn', /write fsnotify:\/\/<driver>/],
  ]
  for (const [dsn, why] of refused)
    it(`refuses ${JSON.stringify(dsn)}`, () => {
      expect(() => parseHotDsn(dsn))
        .to.throw(TypeError, why)
        .with.property('message')
        .that.does.not.contain('hunter2')
    })
})

describe('checkDsn', () => {
  const known: readonly (readonly [text: string, driver: string, dsn: string])[] = [
    ['postgres://ada:hunter2@db:5432/app', 'postgres', 'postgres://ada:hunter2@db:5432/app'],
    ['postgresql://db/app?sslmode=verify-full', 'postgres', 'postgresql://db/app?sslmode=verify-full'],
    ['postgres://ada@/app?host=/run/postgresql', 'postgres', 'postgres://ada@/app?host=/run/postgresql'],
    ['mysql://ada:p%40ss@db/app\n', 'mysql', 'mysql://ada:p%40ss@db/app'],
    ['mariadb://db/app', 'mysql', 'mariadb://db/app'],
    [':memory:', 'sqlite', ':memory:'],
    ['sqlite::memory:', 'sqlite', ':memory:'],
    ['sqlite:///var/a%20b.db', 'sqlite', '/var/a b.db'],
    ['file:///var/a.db', 'sqlite', '/var/a.db'],
  ]
  for (const [text, driver, dsn] of known)
    it(`knows ${JSON.stringify(text)}`, () => {
      expect(checkDsn(text)).to.deep.equal({ driver, dsn })
    })

  const refused: readonly (readonly [
    text: string,
    driver: 'postgres' | 'mysql' | 'sqlite' | undefined,
    why: RegExp,
  ])[] = [
    ['', undefined, /begin it with/],
    ['hunter2', undefined, /begin it with/],
    ['redis://:hunter2@db', undefined, /begin it with/],
    ['mysql://ada:hunter2@db/app', 'postgres', /a postgres DSN begins with postgres:\/\//],
    ['postgres://ada:hunter2@db/app', 'mysql', /a mysql DSN begins with mysql:\/\//],
    ['host=db password=hunter2', 'postgres', /a postgres DSN begins with/],
    ['ada:hunter2@tcp(db:3306)/app', 'mysql', /a mysql DSN begins with/],
    ['postgres://ada:hunter2#x@db/app', 'postgres', /not a URL: percent-encode/],
    ['postgres://ada:hunter2%@db/app', 'postgres', /percent-encod/],
    ['mysql:///app', 'mysql', /the host is missing/],
    ['postgres://db/app\npassword=hunter2', 'postgres', /one line/],
    ['fsnotify://postgres/etc/hunter2', 'postgres', /not another fsnotify/],
    [`postgres://db/${'x'.repeat(70_000)}`, 'postgres', /longer than/],
    ['data.sqlite', 'sqlite', /an absolute path/],
    ['sqlite://data.sqlite', 'sqlite', /an absolute path/],
  ]
  for (const [text, driver, why] of refused)
    it(`refuses ${JSON.stringify(text.slice(0, 60))} for ${driver ?? 'any driver'}`, () => {
      expect(() => checkDsn(text, driver))
        .to.throw(TypeError, why)
        .with.property('message')
        .that.does.not.contain('hunter2')
    })
})

describe('redactDsn', () => {
  const cases: readonly (readonly [dsn: string, shown: string])[] = [
    ['postgres://ada:hunter2@db:5433/app', 'postgres://ada@db:5433/app'],
    ['postgres://ada@/app?host=/run/pg&password=hunter2', 'postgres://ada@localhost/app'],
    ['postgres://db/app?user=ada&password=hunter2', 'postgres://ada@db/app'],
    ['mysql://ada:hunter2@db/app?ssl={"key":"hunter2"}', 'mysql://ada@db/app'],
    ['fsnotify://mysql/etc/dsn', 'fsnotify://mysql/etc/dsn'],
    ['sqlite:///var/a.db', 'sqlite:/var/a.db'],
    ['ada:hunter2@tcp(db)/app', 'a DSN that cannot be read'],
    ['fsnotify://ada:hunter2@db/app', 'a DSN that cannot be read'],
  ]
  for (const [dsn, shown] of cases)
    it(`shows ${dsn} as ${shown}`, () => {
      expect(redactDsn(dsn)).to.equal(shown)
    })
})

describe('withPassword', () => {
  const cases: readonly (readonly [dsn: string, written: string])[] = [
    [
      'postgres://ada:hunter2@db:5433/app?sslmode=require',
      'postgres://ada:n%25%40%2F%3A@db:5433/app?sslmode=require',
    ],
    [
      'postgres://ada@/app?host=/run/pg&password=hunter2',
      'postgres://ada:n%25%40%2F%3A@localhost/app?host=%2Frun%2Fpg',
    ],
    ['mysql://ada@db/app', 'mysql://ada:n%25%40%2F%3A@db/app'],
  ]
  for (const [dsn, written] of cases)
    it(`puts another one into ${dsn}`, () => {
      expect(withPassword(dsn, 'n%@/:')).to.equal(written)
    })
})

describe('resolveDsn', () => {
  let folder: string
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'ashlar-dsn-'))
  })
  after(() => rmSync(folder, { recursive: true }))

  const write = (content: string | Buffer) => {
    const path = join(folder, 'dsn')
    writeFileSync(path, content)
    return path
  }

  it('returns a DSN that is given directly', async () => {
    expect(await resolveDsn('mysql://db/app')).to.deep.equal({
      driver: 'mysql',
      dsn: 'mysql://db/app',
      path: undefined,
    })
  })

  for (const [driver, content, dsn] of [
    ['postgres', '\uFEFF postgres://ada:hunter2@db/app\r\n', 'postgres://ada:hunter2@db/app'],
    ['mysql', 'mysql://db/app', 'mysql://db/app'],
    ['sqlite', '/var/lib/app.sqlite\n', '/var/lib/app.sqlite'],
  ] as const)
    it(`reads the file of ${driver}`, async () => {
      const path = write(content)
      expect(await resolveDsn(`fsnotify://${driver}${path}`)).to.deep.equal({ driver, dsn, path })
    })

  const unfit: readonly (readonly [what: string, path: () => string, why: RegExp])[] = [
    ['is missing', () => join(folder, 'none'), /none cannot be read \(ENOENT\): create it, mount it/],
    ['is below a file', () => join(write('x'), 'dsn'), /\(ENOTDIR\): a part of its path is a file/],
    ['is a folder', () => folder, /\(EISDIR\): it is a folder: name the file in it/],
    ['is a pipe', () => pipe(folder), /\(ESPIPE\): it is a pipe or a device: name a regular file/],
    ['is a device', () => '/dev/zero', /\(ESPIPE\): it is a pipe or a device/],
    ['is a link to itself', () => loop(folder), /\(ELOOP\): its symbolic links form a loop/],
    ['is empty', () => write(' \n'), /is empty: write the DSN into it/],
    ['is a byte-order mark', () => write('\uFEFF'), /is empty/],
    [
      'has ten megabytes',
      () => write('hunter2\n'.repeat(1_250_000)),
      /is larger than 65536 bytes: it must contain only the DSN/,
    ],
    [
      'is not UTF-8',
      () => write(Buffer.from('hunter2 \xff', 'latin1')),
      /is not UTF-8: write .* as plain text/,
    ],
    ['is UTF-16', () => write(Buffer.from('\uFEFFhunter2', 'utf16le')), /is not UTF-8/],
  ]
  for (const [what, path, why] of unfit)
    it(`says what to do about a file that ${what}`, async () => {
      const named = path()
      const error = await rejection(resolveDsn(`fsnotify://mysql${named}`), Unavailable, why)
      expect(error.message).to.contain(named).and.not.contain('hunter2')
    })

  it('reads a DSN as long as one may be, through a link', async () => {
    const dsn = `mysql://db/${'x'.repeat(64 * 1024 - 12)}`
    const link = join(folder, 'link')
    symlinkSync(write(`${dsn}\n`), link)
    expect((await resolveDsn(`fsnotify://mysql${link}`)).dsn).to.equal(dsn)
  })

  it('says that a file is of another driver, and nothing of what it holds', async () => {
    const path = write('postgres://ada:hunter2@db/app')
    const error = await rejection(
      resolveDsn(`fsnotify://mysql${path}`),
      TypeError,
      /a mysql DSN begins with mysql:\/\//,
    )
    expect(error.message).to.not.contain('hunter2')
  })
})

function pipe(folder: string): string {
  const path = join(folder, 'pipe')
  execFileSync('mkfifo', [path])
  return path
}

function loop(folder: string): string {
  const path = join(folder, 'loop')
  symlinkSync(path, path)
  return path
}
