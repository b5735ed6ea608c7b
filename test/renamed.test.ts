import { expect } from 'chai'
import { Column, Entity, PrimaryColumn } from 'typeorm'
import { Resource, TenantScoped } from '../decorators/index.js'
import { Aborted } from '../lib/errors.js'
import { relay } from '../lib/events/relay/relay.js'
import { SqliteDataSource, transaction } from '../lib/index.js'
import { MemoryDatabase } from '../lib/persistence/memory/memory-database.js'
import { withMaxRows } from '../lib/persistence/contract/related-options.js'
import { memoryRepositoryOf, repositoryFor } from '../lib/persistence/repository-of.js'
import { warnRenamed } from '../lib/renamed.js'
import { resolveConfig } from '../lib/server/config/config.js'
import {
  type DeduplicationKey,
  type DeduplicationStore,
  type MemoryDeduplicationOptions,
  MemoryDeduplicationStore,
  type RedisDeduplicationOptions,
  type SqlDeduplicationOptions,
  RedisDeduplicationStore,
  SqlDeduplicationStore,
} from '../lib/server/idempotency/former-names.js'
import { MemoryIdempotencyStore } from '../lib/server/idempotency/memory-idempotency-store.js'
import { RedisIdempotencyStore } from '../lib/server/idempotency/redis-idempotency-store.js'
import { SqlIdempotencyStore } from '../lib/server/idempotency/sql-idempotency-store.js'
import { MemoryOperationStore } from '../lib/server/operations/memory-operation-store.js'
import { principalHeaders, withPrincipal } from '../lib/testing/index.js'
import { asTenant, inAcme } from './conformance/repository/subject.js'
import { rejection } from './support/rejection.js'

@Resource()
@Entity('coats')
@TenantScoped()
class Coat {
  @PrimaryColumn({ length: 64 }) id!: string
  @Column({ type: 'int' }) size!: number
  accountId!: string
}

const sink = { deliver: () => Promise.resolve(), close: () => Promise.resolve() }
const redis = { eval: () => Promise.resolve() }

describe('old names', () => {
  const warnings: string[] = []
  const { emitWarning } = process
  const dataSource = new SqliteDataSource({ database: ':memory:', entities: [Coat], synchronize: true })
  const database = new MemoryDatabase()
  const coats = new (memoryRepositoryOf(Coat))({ database })
  before(() => dataSource.initialize())
  after(() => dataSource.destroy())
  beforeEach(async () => {
    warnings.length = 0
    process.emitWarning = ((text: string) => warnings.push(text)) as never
    await inAcme(async () => {
      for (const { id } of (await coats.list()).items) await coats.delete(id)
      await coats.create({ id: 'a', size: 1 })
      await coats.create({ id: 'b', size: 1 })
    })
  })
  afterEach(() => {
    process.emitWarning = emitWarning
  })

  /** What an old name does: the same as the new one. It is used twice, and warns once. */
  const ROWS: Readonly<Record<string, readonly [now: string, use: () => Promise<void> | void]>> = {
    'retries of transaction': [
      'maxAttempts',
      async () => {
        let attempts = 0
        const failing = () => {
          attempts++
          return Promise.reject(Object.assign(new Error('could not serialize'), { code: '40001' }))
        }
        await rejection(transaction(dataSource, failing, { retries: 2 }), Aborted)
        expect(attempts).to.equal(3)
        const inMemory = inAcme(() => coats.transaction(() => Promise.resolve('done'), { retries: 0 }))
        expect(await inMemory).to.equal('done')
      },
    ],
    'retries of Coat.modify': [
      'maxAttempts',
      () =>
        inAcme(async () => {
          const { size } = await coats.modify('a', () => ({ size: 2 }), { retries: 0 })
          expect(size).to.equal(2)
        }),
    ],
    'mostRows of this test': [
      'maxRows',
      () => void expect(withMaxRows('this test', { mostRows: 7 })).to.deep.equal({ maxRows: 7 }),
    ],
    'mostRows of delete': ['maxRows', () => inAcme(() => coats.delete('a', { mostRows: 1 })).catch(() => {})],
    'mostRows of batchDelete': [
      'maxRows',
      () => inAcme(() => coats.batchDelete(['b'], { mostRows: 1 })).catch(() => {}),
    ],
    'mostRows of undelete': [
      'maxRows',
      () =>
        inAcme(() => coats.undelete('a', { mostRows: 1 })).then(
          () => {},
          () => {},
        ),
    ],
    'tries of relay:old': [
      'maxAttempts',
      () => {
        expect(() => relay({ dataSource: database, sink, name: 'old', tries: 0 })).to.throw(RangeError)
      },
    ],
    MemoryDeduplicationStore: [
      'MemoryIdempotencyStore',
      () =>
        void expect(new MemoryDeduplicationStore({} satisfies MemoryDeduplicationOptions)).to.be.instanceOf(
          MemoryIdempotencyStore,
        ),
    ],
    RedisDeduplicationStore: [
      'RedisIdempotencyStore',
      () =>
        void expect(
          new RedisDeduplicationStore(redis, {} satisfies RedisDeduplicationOptions),
        ).to.be.instanceOf(RedisIdempotencyStore),
    ],
    SqlDeduplicationStore: [
      'SqlIdempotencyStore',
      () =>
        void expect(
          new SqlDeduplicationStore(dataSource, {} satisfies SqlDeduplicationOptions),
        ).to.be.instanceOf(SqlIdempotencyStore),
    ],
    withPrincipal: [
      'principalHeaders',
      () => {
        const ada = { tenant: 'acme', subject: 'ada' }
        expect(withPrincipal(ada).headers).to.deep.equal(principalHeaders(ada).headers)
      },
    ],
  }
  for (const [was, [now, use]] of Object.entries(ROWS))
    it(`${was} works as ${now} and warns once`, async () => {
      await use()
      await use()
      expect(warnings).to.deep.equal([`${was} is now ${now}: the old name goes with the next release`])
    })

  it('are a DeprecationWarning with a code', async () => {
    process.emitWarning = emitWarning
    const warned = new Promise<Error>((resolve) => void process.once('warning', resolve))
    warnRenamed('a name of this test', 'another')
    expect(await warned).to.include({ name: 'DeprecationWarning', code: 'ASHLAR_RENAMED' })
  })

  const BOTH: Readonly<Record<string, () => unknown>> = {
    'maxAttempts and retries': () =>
      transaction(dataSource, () => Promise.resolve(), { retries: 1, maxAttempts: 2 }),
    'maxAttempts and retries ': () =>
      inAcme(() => coats.transaction(() => Promise.resolve(), { retries: 1, maxAttempts: 2 })),
    'maxAttempts and retries  ': () =>
      inAcme(() => coats.modify('a', () => ({ size: 2 }), { retries: 1, maxAttempts: 2 })),
    'maxRows and mostRows': () => inAcme(() => coats.delete('a', { maxRows: 1, mostRows: 1 })),
    'maxRows and mostRows ': () => inAcme(() => coats.batchDelete(['a'], { maxRows: 1, mostRows: 1 })),
    'maxAttempts and tries': () => relay({ dataSource: database, sink, tries: 1, maxAttempts: 1 }),
  }
  for (const [names, use] of Object.entries(BOTH))
    it(`${names} together are refused`, async () => {
      const error = await rejection((async () => use())(), TypeError)
      for (const name of names.trim().split(' and ')) expect(error.message).to.include(name)
      expect(warnings).to.deep.equal([])
    })

  it('are those of types, too', async () => {
    const store: DeduplicationStore = new MemoryIdempotencyStore()
    const key: DeduplicationKey = { tenant: 'acme', subject: 'ada', method: '/a.B/C', requestId: 'r' }
    expect((await store.claim(key, 'fingerprint', 1000)).state).to.equal('claimed')
  })

  it('less than one attempt is refused', async () => {
    for (const maxAttempts of [0, -1, Number.NaN]) {
      await rejection(
        transaction(dataSource, () => Promise.resolve(), { maxAttempts }),
        RangeError,
      )
      await rejection(
        inAcme(() => coats.transaction(() => Promise.resolve(), { maxAttempts })),
        RangeError,
      )
    }
  })
})

describe('names of the specification', () => {
  const idempotencyStore = new MemoryIdempotencyStore()
  const operationStore = new MemoryOperationStore()

  it('stay beside those of Ashlar', () => {
    const resolved = resolveConfig({
      grpcAddr: ':1',
      deduplicationStore: idempotencyStore,
      lroStore: operationStore,
    })
    expect(resolved).to.include({ idempotencyStore, operationStore })
    expect(resolveConfig({ grpcAddr: ':1', idempotencyStore, operationStore })).to.include({
      idempotencyStore,
      operationStore,
    })
  })

  it('are refused beside them', () => {
    const both = {
      ...{ grpcAddr: ':1', idempotencyStore, operationStore },
      ...{ deduplicationStore: idempotencyStore, lroStore: operationStore },
    }
    expect(() => resolveConfig(both))
      .to.throw('idempotencyStore and deduplicationStore are the same')
      .with.property('message')
      .that.includes('operationStore and lroStore are the same')
  })
})

describe('repositoryFor', () => {
  const dataSource = new SqliteDataSource({ database: ':memory:', entities: [Coat], synchronize: true })
  before(() => dataSource.initialize())
  after(() => dataSource.destroy())

  it('is a repository of an entity, with the options that it is given', async () => {
    const coats = repositoryFor(Coat, dataSource, { newKey: () => 'made' })
    expect(await inAcme(() => coats.create({ size: 3 }))).to.include({ id: 'made', size: 3 })
    expect(await asTenant('globex', () => coats.list())).to.have.property('items').that.is.empty
  })
})
