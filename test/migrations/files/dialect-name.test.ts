import { expect } from 'chai'
import { DeclarationError, Unimplemented } from '../../../lib/errors.js'
import { dialectOf } from '../../../lib/migrations/engines.js'
import { migrate, type MigrateOptions } from '../../../lib/migrations/index.js'

const KNOWN = [
  ['postgres://h/d', 'postgres'],
  ['PostgreSQL://h/d', 'postgres'],
  ['mysql://h/d', 'mysql'],
  ['mariadb://h/d', 'mysql'],
] as const

const UNKNOWN = [
  'host=h password=hunter22',
  'mongodb://u:hunter22@h/d',
  'fsnotify://postgres/etc/hunter22',
  '',
]

describe('dialectOf', () => {
  for (const [url, dialect] of KNOWN)
    it(`knows ${url}`, () => {
      expect(dialectOf(url)).to.equal(dialect)
    })

  for (const url of [
    'sqlite://x.db',
    'sqlite::memory:',
    ':memory:',
    'data/app.sqlite',
    'file:app.db',
    '/srv/app.db',
  ])
    it(`refuses versioned SQL on SQLite: ${url}`, () => {
      expect(() => dialectOf(url))
        .to.throw(Unimplemented)
        .with.property('message')
        .that.matches(/SQLite runs no versioned SQL.*tables are created automatically.*PostgreSQL or MySQL/)
    })

  for (const url of UNKNOWN)
    it(`refuses ${JSON.stringify(url)} without repeating it`, () => {
      expect(() => dialectOf(url))
        .to.throw(TypeError)
        .with.property('message')
        .that.does.not.include('hunter22')
    })
})

const OPTIONS: readonly (readonly [name: string, options: Partial<MigrateOptions>, text: RegExp])[] = [
  ['a timeout of 0', { lockTimeoutMs: 0 }, /lockTimeoutMs is a whole number of milliseconds from 1/],
  ['a fraction', { statementTimeoutMs: 1.5 }, /statementTimeoutMs is a whole number/],
  ['a timeout without an end', { concurrentTimeoutMs: Infinity }, /concurrentTimeoutMs is a whole number/],
  ['a schema of PostgreSQL', { schema: 'pg_catalog' }, /schema pg_catalog belongs to PostgreSQL/],
  ['a schema without a name', { schema: '' }, /schema is a name of 1 to 63 bytes/],
  ['a schema on MySQL', { url: 'mysql://h/d', schema: 'a' }, /schema is for PostgreSQL/],
]

describe('migrate', () => {
  for (const [name, options, text] of OPTIONS)
    it(`refuses ${name}`, () => {
      expect(() => migrate({ url: 'postgres://h/d', files: {}, ...options }))
        .to.throw(DeclarationError)
        .with.property('message')
        .that.matches(text)
    })
})
