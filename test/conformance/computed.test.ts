import { create, toBinary } from '@bufbuild/protobuf'
import { expect } from 'chai'
import { Internal, InvalidArgument } from '../../lib/errors.js'
import type { Repository } from '../../lib/persistence/contract/repository.js'
import { increment } from '../../lib/persistence/index.js'
import { memoryRepositoryOf, repositoryOf } from '../../lib/persistence/repository-of.js'
import { createTables } from '../../lib/persistence/schema/create-tables.js'
import { resourceModel } from '../../lib/resource/resource-model.js'
import { CredentialMinter } from '../../lib/secrets/credential-minter.js'
import { newDev } from '../../lib/secrets/dev-encryptor.js'
import { backends, describeOn } from '../support/databases/backends.js'
import { Reckoned, reckoning } from '../support/entities/reckoned.js'
import { SpecimenSchema } from '../support/gen/specimens_pb.js'
import { rejection } from '../support/rejection.js'
import { collated } from './repository/open-subject.js'
import { inAcme } from './repository/subject.js'

describeOn('computed fields', backends, (backend) => {
  let close: () => Promise<void>
  let columnsOf: (() => readonly string[]) | undefined
  let reckoned: Repository<Reckoned>
  let tokens: (token: string) => Promise<{ ok: boolean; record: Reckoned | undefined }>

  before(async () => {
    const { dataSource, database, close: end } = await backend.open([Reckoned])
    close = end
    const options = { minter: new CredentialMinter(), encryptor: newDev(Buffer.alloc(32, 7)) }
    if (dataSource === undefined || database === undefined) {
      const memory = new (memoryRepositoryOf(Reckoned))(options)
      reckoned = memory
      tokens = (token) => memory.verifyApiKey(token)
      return
    }
    await createTables(collated(dataSource, backend), [Reckoned], database.dialect.name)
    const sql = new (repositoryOf(Reckoned))(dataSource, options)
    reckoned = sql
    tokens = (token) => sql.verifyApiKey(token)
    columnsOf = () =>
      dataSource
        .getMetadata(Reckoned)
        .columns.map(({ propertyName, databaseName }) => `${propertyName} ${databaseName}`)
  })
  beforeEach(() => void delete reckoning.score)
  after(() => close())

  const make = (id: string, more: Partial<Reckoned> = {}) =>
    reckoned.create({
      id,
      ...{ title: 'Slate', weight: 3, huge: 1n, ratio: 1, labels: ['a', 'b'], tags: {}, code: id },
      ...{ webhookSecret: 'whsec', ...more },
    })
  const expectReckoned = (
    one: Reckoned | undefined,
    title: string,
    labels: readonly string[],
    loaded = '',
  ) => {
    expect(one).to.deep.include({
      ...{ active: true, count: labels.length, big: 6n, score: 0.5, phase: 2 },
      ...{ rank: labels.length === 0 ? undefined : labels.length, serial: `${one?.code}/${title}${loaded}` },
      origin: { quarry: title, depth: 6n, crew: labels },
    })
    expect(Buffer.from(one?.blob ?? []).toString()).to.equal(title)
    expect(one?.dueTime).to.deep.equal(new Date((one?.createTime.getTime() ?? 0) + 1000))
    expect(one?.note).to.equal('undefined undefined')
  }

  it('sets computed fields in every entity that a repository returns', () =>
    inAcme(async () => {
      const created = await make('a')
      expect(created.apiKey).to.be.a('string')
      expectReckoned(created, 'Slate', ['a', 'b'])
      expectReckoned(await reckoned.get('a'), 'Slate', ['a', 'b'])
      expectReckoned((await reckoned.list({ filter: 'code = "a"' })).items[0], 'Slate', ['a', 'b'])
      expectReckoned((await reckoned.batchGet(['a']))[0], 'Slate', ['a', 'b'])
      expectReckoned(await reckoned.update('a', { title: 'Chalk' }, ['title']), 'Chalk', ['a', 'b'])
      const item = { key: 'a', entity: { labels: [] }, fieldMask: ['labels'] } as const
      expectReckoned((await reckoned.batchUpdate([item as never]))[0], 'Chalk', [])
      await reckoned.modify('a', (current) => {
        expectReckoned(current, 'Chalk', [])
        return { title: `${current.serial}!` }
      })
      expectReckoned(await reckoned.get('a'), 'a/Chalk!', [])
      await reckoned.delete('a')
      expectReckoned(await reckoned.undelete('a'), 'a/Chalk!', [])
      expectReckoned((await tokens(created.apiKey ?? '')).record, 'a/Chalk!', [])
    }))

  it('defines enumerable properties that follow changes of the entity', () =>
    inAcme(async () => {
      const one = await make('b')
      expect(Object.keys(one)).to.include.members(['count', 'serial', 'origin'])
      expect({ ...one }).to.include({ serial: 'b/Slate', count: 2 })
      one.title = 'Chalk'
      one.labels = []
      expect([one.serial, one.count, one.rank]).to.deep.equal(['b/Chalk', 0, undefined])
      expect(() => (one.count = 5)).to.throw(TypeError, 'count of Reckoned is computed')
    }))

  it('computes fields after @AfterLoad', () =>
    inAcme(async () => {
      const created = await make('c', { title: 'hooked' })
      expect(created.serial).to.equal('c/hooked')
      expect((await reckoned.get('c')).serial).to.equal('c/hooked (loaded)')
      const { items } = await reckoned.list({ filter: 'code = "c"' })
      expect(items[0]?.serial).to.equal('c/hooked (loaded)')
    }))

  it('creates no column, and stores no given value', () =>
    inAcme(async () => {
      await make('d', { count: 7, serial: 'mine' } as never)
      const one = await reckoned.get('d')
      expectReckoned(one, 'Slate', ['a', 'b'])
      expectReckoned(await reckoned.update('d', { ...one, count: 9, title: 'Chalk' } as Reckoned), 'Chalk', [
        'a',
        'b',
      ])
      for (const column of columnsOf?.() ?? [])
        expect(column).to.not.match(/^(note|active|count|big|score|blob|phase|dueTime|origin|rank|serial) /)
      expect(resourceModel(Reckoned).fields.map(({ property }) => property)).to.not.include('count')
    }))

  it('rejects computed fields in filters, sort orders, masks and increments', () =>
    inAcme(async () => {
      await make('e')
      for (const name of ['count', 'serial', 'origin', 'note', 'due_time']) {
        for (const filter of [`${name} = "1"`, `${name}:*`, `${name}.quarry = "x"`, `NOT ${name} = null`])
          await rejection(reckoned.list({ filter }), InvalidArgument, new RegExp(name))
        await rejection(
          reckoned.list({ orderBy: name as never }),
          InvalidArgument,
          new RegExp(`${name}.* sorted`),
        )
        for (const options of [{}, { outputOnly: true }])
          await rejection(
            reckoned.update('e', { title: 'x' }, ['title', name as never], options),
            InvalidArgument,
            new RegExp(`${name} cannot be written: it is output-only`),
          )
        await rejection(reckoned.count({ filter: `${name} = "1"` }), InvalidArgument, new RegExp(name))
      }
      await rejection(
        reckoned.modify('e', () => ({ count: 4 })),
        TypeError,
        /count cannot be written/,
      )
      await rejection(
        reckoned.update('e', { count: increment(1) }, ['count']),
        InvalidArgument,
        /count cannot/,
      )
    }))

  it('fails with Internal if a field cannot be computed, and the cause names the property', () =>
    inAcme(async () => {
      const one = await make('f')
      const causeOf = () => {
        try {
          void one.score
        } catch (error) {
          expect(error).to.be.instanceOf(Internal).and.to.have.property('message', 'internal error')
          const { cause } = error as { cause: Error }
          expect(cause.message).to.match(/^@Computed\(\) of score in Reckoned has failed: /)
          return (cause.cause as Error).message
        }
        throw new TypeError('it did not fail')
      }
      reckoning.score = () => {
        throw new InvalidArgument('secret', 'a detail')
      }
      expect(causeOf()).to.match(/a detail/)
      for (const wrong of ['1', 1n, NaN, new Date()]) {
        reckoning.score = () => wrong
        expect(causeOf(), String(wrong)).to.match(/^score: must be a/)
      }
      // Its rejection is nobody's to handle.
      reckoning.score = () => Promise.reject(new RangeError('late'))
      expect(causeOf()).to.match(/async/)
      await new Promise((resolve) => setImmediate(resolve))
      reckoning.score = () => undefined
      expect(one.score).to.equal(0)
    }))

  it('includes computed fields in the message of an entity that code created', () =>
    inAcme(async () => {
      const { toMessage, fromMessage } = resourceModel(Reckoned)
      const one = await make('g')
      const message = toMessage<never>({ ...one, title: 'Chalk' } as Reckoned) as Record<string, unknown>
      expect(message).to.include({ count: 2, serial: 'g/Chalk', big: 6n, rank: 2, phase: 2 })
      expect(message['origin']).to.deep.include({ quarry: 'Chalk' })
      expect(toBinary(SpecimenSchema, message as never)).to.be.instanceOf(Uint8Array)
      const back = fromMessage(create(SpecimenSchema, { title: 'x', count: 9, labels: [] }))
      expect(back.count).to.equal(0)
    }))
})
