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
        .with.deep.property('problem', { kind: 'noVersionedSql' })
    })

  for (const url of UNKNOWN)
    it(`refuses ${JSON.stringify(url)} without repeating it`, () => {
      expect(() => dialectOf(url))
        .to.throw(TypeError)
        .with.property('message')
        .that.does.not.include('hunter22')
    })
})

const OPTIONS: readonly (readonly [name: string, options: Partial<MigrateOptions>, problem: object])[] = [
  ['a timeout of 0', { lockTimeoutMs: 0 }, { kind: 'badTimeout', option: 'lockTimeoutMs' }],
  ['a fraction', { statementTimeoutMs: 1.5 }, { kind: 'badTimeout', option: 'statementTimeoutMs' }],
  [
    'a timeout without an end',
    { concurrentTimeoutMs: Infinity },
    { kind: 'badTimeout', option: 'concurrentTimeoutMs' },
  ],
  ['a schema of PostgreSQL', { schema: 'pg_catalog' }, { kind: 'schemaOfServer', schema: 'pg_catalog' }],
  ['a schema without a name', { schema: '' }, { kind: 'badSchema' }],
  ['a schema on MySQL', { url: 'mysql://h/d', schema: 'a' }, { kind: 'noSchemas' }],
]

describe('migrate', () => {
  for (const [name, options, problem] of OPTIONS)
    it(`refuses ${name}`, () => {
      expect(() => migrate({ url: 'postgres://h/d', files: {}, ...options }))
        .to.throw(DeclarationError)
        .with.property('values')
        .that.satisfies(([one]: readonly object[]) => expect(one).to.include(problem))
    })
})
