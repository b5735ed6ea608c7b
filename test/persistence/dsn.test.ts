import { expect } from 'chai'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Unavailable } from '../../lib/errors.js'
import { checkDsn, hidePasswords, parseHotDsn, redactDsn, resolveDsn } from '../../lib/persistence/dsn.js'
import { rejection } from '../support/rejection.js'

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
    ['fsnotify://postgres/etc/../dsn', /without \. and \.\./],
    ['fsnotify://postgres/etc/%2e%2e/dsn', /without \. and \.\./],
    ['fsnotify://postgres/etc/dsn?force=hunter2', /nothing follows the path/],
    ['fsnotify://postgres/etc/dsn#hunter2', /nothing follows the path/],
    ['fsnotify://postgres/etc/%zz', /begins no percent-encoding/],
    ['fsnotify://postgres/etc/%00', /NUL/],
  ]
  for (const [dsn, why] of refused)
    it(`refuses ${dsn}`, () => {
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
    ['mysql://ada:hunter2@db/app', 'postgres', /one for postgres begins with postgres:\/\//],
    ['postgres://ada:hunter2@db/app', 'mysql', /one for mysql begins with mysql:\/\//],
    ['host=db password=hunter2', 'postgres', /one for postgres begins with/],
    ['ada:hunter2@tcp(db:3306)/app', 'mysql', /one for mysql begins with/],
    ['postgres://ada:hunter2#x@db/app', 'postgres', /not a URL: percent-encode/],
    ['postgres://ada:hunter2%@db/app', 'postgres', /percent-encod/],
    ['mysql:///app', 'mysql', /names no host/],
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

describe('hidePasswords', () => {
  it('blanks out a password as written, as decoded, and one among the parameters', () => {
    const dsn = 'postgres://ada:p%40ss@db/app?password=s%2Fx'
    expect(hidePasswords('p@ss p%40ss s/x s%2Fx ada', dsn)).to.equal('*** *** *** *** ada')
  })

  it('blanks out the whole text of a DSN that cannot be read', () => {
    expect(hidePasswords('no: ada:hunter2@tcp(db)/app', 'ada:hunter2@tcp(db)/app')).to.equal('no: ***')
  })
})

describe('resolveDsn', () => {
  let folder: string
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'ashlar-dsn-'))
  })
  after(() => rmSync(folder, { recursive: true }))

  const write = (content: string) => {
    const path = join(folder, 'dsn')
    writeFileSync(path, content)
    return path
  }

  it('answers a DSN that is given directly', async () => {
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

  it('says which file is missing, empty or of another driver, and nothing of what it holds', async () => {
    await rejection(
      resolveDsn('fsnotify://mysql/no/such/dsn'),
      Unavailable,
      /\/no\/such\/dsn cannot be read \(ENOENT\)/,
    )
    await rejection(resolveDsn(`fsnotify://mysql${folder}`), Unavailable, /cannot be read \(EISDIR\)/)
    await rejection(resolveDsn(`fsnotify://mysql${write(' \n')}`), Unavailable, /is empty/)
    const path = write('postgres://ada:hunter2@db/app')
    const error = await rejection(
      resolveDsn(`fsnotify://mysql${path}`),
      TypeError,
      /one for mysql begins with mysql:\/\//,
    )
    expect(error.message).to.not.contain('hunter2')
  })
})
