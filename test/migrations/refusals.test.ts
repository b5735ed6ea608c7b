import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect } from 'chai'
import { MigrationError } from '../../lib/errors.js'
import { migrate, type MigrateOptions, type Migrator } from '../../lib/migrations/index.js'
import { failureOf, file, onEachEngine, problemOf, tables } from './each-engine.js'
import { type LimitedUser, limitedUser } from './limited-user.js'

const SQLSTATE = { postgres: /^42501$/, mysql: /^1(044|142|227|370)$/ } as const

onEachEngine('a user who lacks a right', (database, dialect) => {
  const users: LimitedUser[] = []
  afterEach(async () => {
    for (const user of users.splice(0)) await user.drop()
  })
  const migratorOf = async (
    rights: Readonly<Record<typeof dialect, readonly string[]>>,
    files: MigrateOptions['files'],
    options: Partial<MigrateOptions> = {},
  ): Promise<Migrator> => {
    const user = await limitedUser(database(), rights[dialect])
    users.push(user)
    return migrate({ url: user.url, files, ...options })
  }
  const owner = (files: MigrateOptions['files']) => migrate({ url: database().url, files })

  const expectDenied = async (work: Promise<unknown>): Promise<void> => {
    const failure = await failureOf(work)
    expect(failure).to.be.instanceOf(MigrationError)
    expect(failure).to.have.property('stop', 'denied')
    expect(failure).to.have.property('sqlState').that.matches(SQLSTATE[dialect])
    expect(problemOf(failure)).to.have.nested.include({ kind: 'serverRefused', 'advice.kind': 'lacksRight' })
  }

  /** Rights of MySQL without which nobody gets into the database. */
  const enter = 'GRANT CREATE TEMPORARY TABLES ON * TO USER'
  const read = { postgres: 'GRANT SELECT ON ashlar_migrations TO USER', mysql: 'GRANT SELECT ON * TO USER' }

  for (const [verb, act] of [
    ['up', (migrator: Migrator) => migrator.up()],
    ['down', (migrator: Migrator) => migrator.down(0)],
    ['status', (migrator: Migrator) => migrator.status()],
    ['verify', (migrator: Migrator) => migrator.verify()],
  ] as const)
    it(`is told so by ${verb} when the versions cannot be read`, async () => {
      await expectDenied(act(await migratorOf({ postgres: [], mysql: [enter] }, tables(2))))
    })

  it('is told so by down and by up when the versions cannot be written', async () => {
    await owner(tables(2)).up()
    const rights = { postgres: [read.postgres], mysql: [read.mysql] }
    await expectDenied((await migratorOf(rights, tables(2))).down(1))
    await expectDenied((await migratorOf(rights, tables(2, 3))).up())
    expect(problemOf(await failureOf((await migratorOf(rights, tables(2, 3))).up()))).to.have.nested.include({
      ...{ 'advice.purpose': 'change', isUndone: dialect === 'postgres' },
    })
    expect((await owner(tables(2)).status()).map(({ state }) => state)).to.deep.equal([
      ...['applied', 'applied', 'applied'],
    ])
  })

  it('may read where the versions stand', async () => {
    const migrator = await migratorOf({ postgres: [read.postgres], mysql: [read.mysql] }, {})
    expect(await migrator.status()).to.have.length(2)
    expect(await migrator.verify()).to.deep.equal([])
    expect(await migrator.up()).to.deep.equal({ applied: [], ahead: [] })
  })

  it('may read that a version failed without the positions of backfills', async () => {
    const files = {
      ...file('0002_t', 'CREATE TABLE t (id bigint PRIMARY KEY, n int)', 'DROP TABLE t'),
      ...file('0003_fill', '-- ashlar:backfill\nUPDATE t SET n = 1', '-- nothing'),
      ...file('0004_x', 'nonsense', '-- nothing'),
    }
    await failureOf(owner(files).up())
    const rights = {
      postgres: [read.postgres],
      mysql: ['GRANT SELECT ON ashlar_migrations TO USER'],
    }
    const migrator = await migratorOf(rights, files)
    expect((await migrator.status()).find(({ state }) => state === 'dirty')).to.include({ name: '0004_x' })
  })

  if (dialect === 'postgres')
    it('is told so where the schema is not there and the database lets nobody make one', async () => {
      await expectDenied((await migratorOf({ postgres: [], mysql: [] }, {}, { schema: 'shop' })).up())
    })

  it('is told so in a file, which can be run again when the right is there', async () => {
    await database().rows('CREATE TABLE kept (id bigint)')
    const files = file('0002_a', 'ALTER TABLE kept ADD COLUMN name varchar(9)', '')
    const versions = 'GRANT SELECT, INSERT, UPDATE, DELETE ON ashlar_migrations TO USER'
    const migrator = await migratorOf({ postgres: [versions], mysql: [versions] }, files)
    const failure = await failureOf(migrator.up())
    expect(failure).to.be.instanceOf(MigrationError).with.property('stop', 'failed')
    expect(problemOf(failure)).to.have.nested.include({
      ...{ 'advice.kind': 'lacksRight', file: '0002_a.up.sql', 'place.line': 1, mend: 'nothing' },
    })
    const [user] = users
    await database().rows(
      dialect === 'postgres'
        ? `ALTER TABLE kept OWNER TO ${user?.name}`
        : `GRANT ALTER ON kept TO '${user?.name}'@'%'`,
    )
    expect((await migrator.up()).applied).to.deep.equal(['0002_a'])
  })

  it('does not see the password of the connection string in what it is told', async () => {
    const migrator = await migratorOf({ postgres: [], mysql: [enter] }, tables(2))
    expect((await failureOf(migrator.up())).message).to.not.include('hush')
  })
})

onEachEngine(
  'a first run of a user who lacks a right',
  (database, dialect) => {
    it('says so and changes nothing', async () => {
      const user = await limitedUser(
        database(),
        dialect === 'mysql' ? ['GRANT CREATE TEMPORARY TABLES, SELECT ON * TO USER'] : [],
      )
      try {
        const failure = await failureOf(migrate({ url: user.url, files: tables(2) }).up())
        expect(failure).to.be.instanceOf(MigrationError).with.property('stop', 'denied')
        expect(problemOf(failure)).to.have.nested.property('advice.kind', 'lacksRight')
        expect(await database().tables()).to.deep.equal([])
      } finally {
        await user.drop()
      }
    })
  },
  { empty: true },
)

onEachEngine('a connection that is refused', (database, dialect) => {
  /** What is said, and what is advised. */
  const failureWith = async (change: (url: URL) => void) => {
    const url = new URL(database().url)
    change(url)
    const failure = await failureOf(migrate({ url: url.href, files: {} }).status())
    expect(failure).to.be.instanceOf(MigrationError).with.property('stop', 'connection')
    const { kind, advice, server } = problemOf(failure) ?? {}
    expect(kind).to.equal('noConnection')
    return { message: failure.message, advice, server }
  }
  const NOT_REACHED = { kind: 'notReached', server: dialect === 'postgres' ? 'PostgreSQL' : 'MySQL' }

  it('says what to do when the database is not there', async () => {
    const { advice } = await failureWith((url) => (url.pathname = '/no_such_database'))
    expect(advice).to.deep.equal({ kind: 'noSuchDatabase' })
  })

  it('says what to do when something else listens', async () => {
    const web = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')).listen(
      0,
      '127.0.0.1',
    )
    await once(web, 'listening')
    try {
      const { port } = web.address() as AddressInfo
      const { advice } = await failureWith((url) => {
        url.host = `127.0.0.1:${port}`
      })
      expect(advice).to.deep.equal(NOT_REACHED)
    } finally {
      web.close()
    }
  })

  it('says that the server has no TLS', async () => {
    const server = createServer((socket) => socket.once('data', () => socket.end('N'))).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    try {
      if (dialect !== 'postgres') return
      const { advice } = await failureWith((url) => {
        url.host = `127.0.0.1:${port}`
        url.searchParams.set('sslmode', 'verify-full')
      })
      expect(advice).to.deep.equal({ kind: 'noTls', server: 'PostgreSQL' })
    } finally {
      server.close()
    }
  })

  it('says what to do when nobody listens', async () => {
    expect((await failureWith((url) => (url.port = '1'))).advice).to.deep.equal(NOT_REACHED)
  })

  it('says what to do when the user may not connect', async () => {
    const user = await limitedUser(database(), [])
    if (dialect === 'postgres')
      await database().rows(`REVOKE CONNECT ON DATABASE ${database().name} FROM PUBLIC`)
    try {
      const { message, advice } = await failureWith((url) => (url.href = user.url))
      expect(advice).to.deep.equal({ kind: 'mayNotConnect' })
      expect(message).to.not.include('hush')
    } finally {
      await user.drop()
    }
  })

  if (dialect === 'mysql')
    it('says what to do when the login is wrong', async () => {
      const user = await limitedUser(database(), ['GRANT ALL ON * TO USER'])
      try {
        const { message, advice } = await failureWith((url) => {
          url.href = user.url
          url.password = 'wrong-horse'
        })
        expect(advice).to.deep.equal({ kind: 'login' })
        expect(message).to.not.include('wrong-horse')
      } finally {
        await user.drop()
      }
    })
})
