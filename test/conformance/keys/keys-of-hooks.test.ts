import { expect } from 'chai'
import { BeforeInsert, Column, Entity, type EntitySubscriberInterface, PrimaryColumn } from 'typeorm'
import { Resource, TenantScoped } from '../../../decorators/index.js'
import { ErrConflict, ErrNotFound, Internal } from '../../../lib/errors.js'
import type { PartValue } from '../../../lib/resource/keys/key-part.js'
import { memoryRepositoryOf, repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { backends, describeOn, coalesced, type OpenBackend } from '../../support/databases/backends.js'
import { collated } from '../repository/open-subject.js'
import { asTenant, inAcme, rejection } from '../repository/subject.js'

/** What the hook of a class below sets as the key. */
let next: unknown
const seen: unknown[] = []

class Keyed {
  @BeforeInsert() async mint(): Promise<void> {
    const own = this as unknown as { id?: unknown }
    seen.push(own.id)
    await Promise.resolve()
    if (next !== undefined) own.id ??= next
  }
}

@Resource()
@Entity('hook_words')
@TenantScoped()
class Word extends Keyed {
  @PrimaryColumn({ length: 40 }) id!: string
  @Column({ length: 20, default: '' }) title!: string
  accountId!: string
}

@Resource({ shared: true })
@Entity('hook_codes')
class Code extends Keyed {
  @PrimaryColumn({ length: 8 }) id!: string
}

@Resource({ shared: true })
@Entity('hook_numbers')
class Numbered extends Keyed {
  @PrimaryColumn('int') id!: number
}

@Resource({ shared: true })
@Entity('hook_digits')
class Digits extends Keyed {
  @PrimaryColumn('bigint') id!: string
}

@Resource({ shared: true })
@Entity('hook_uuids')
class Uuid extends Keyed {
  @PrimaryColumn('uuid') id!: string
}

@Resource({ shared: true })
@Entity('hook_plains')
class Plain {
  @PrimaryColumn({ length: 40 }) id!: string
}

const ENTITIES = [Word, Code, Numbered, Digits, Uuid, Plain]
const UUID = '0189f7ea-ae2c-4809-8aeb-b819cf5e9e7f'

describeOn('a key that a hook sets', [...backends, ...coalesced], (backend) => {
  let opened: OpenBackend
  const on = <E extends object>(entity: new () => E) =>
    opened.dataSource === undefined
      ? new (memoryRepositoryOf(entity))()
      : new (repositoryOf(entity))(opened.dataSource)

  before(async () => {
    opened = await backend.open(ENTITIES)
    const { dataSource, database } = opened
    if (dataSource !== undefined && database !== undefined)
      await createTables(collated(dataSource, backend), ENTITIES, database.dialect.name)
  })
  beforeEach(() => {
    next = undefined
    seen.length = 0
  })
  after(() => opened.close())

  it('is the key of the row, in no format of ids that clients choose', () =>
    inAcme(async () => {
      const words = on(Word)
      next = 'Wid_ÄÖ 7!'
      expect((await words.create({ title: 'a' })).id).to.equal('Wid_ÄÖ 7!')
      expect((await words.get('Wid_ÄÖ 7!')).title).to.equal('a')
      expect(seen).to.deep.equal([undefined])
      await rejection(words.create({ title: 'b' }), ErrConflict)
    }))

  it('may equal the key of another tenant’s row', async () => {
    const words = on(Word)
    next = 'shared'
    await inAcme(() => words.create({ title: 'a' }))
    expect((await asTenant('globex', () => words.create({ title: 'g' }))).id).to.equal('shared')
    expect((await inAcme(() => words.get('shared'))).title).to.equal('a')
  })

  it('does not replace a key that the caller has chosen, and a hook that sets none leaves it to the repository', () =>
    inAcme(async () => {
      const words = on(Word)
      next = 'hooked'
      expect((await words.create({ id: 'chosen', title: '' })).id).to.equal('chosen')
      await rejection(words.get('hooked'), ErrNotFound)
      next = undefined
      expect((await words.create({ title: '' })).id).to.match(/^[0-9a-f-]{36}$/)
      next = ''
      expect((await words.create({ title: '' })).id).to.match(/^[0-9a-f-]{36}$/)
    }))

  it('is an integer or a UUID too, in the type of its property', () =>
    inAcme(async () => {
      const made = async <E extends object>(entity: new () => E & { id: PartValue }, key: unknown) => {
        next = key
        return (await on(entity).create({} as never)).id
      }
      expect(await made(Code, 'c-1')).to.equal('c-1')
      expect(await made(Numbered, 7)).to.equal(7)
      expect(await made(Digits, '9007199254740993')).to.equal('9007199254740993')
      expect(await made(Digits, 12)).to.equal('12')
      expect(await made(Uuid, UUID.toUpperCase())).to.equal(UUID)
    }))

  const unfit: readonly (readonly [string, new () => object, unknown])[] = [
    ['too long', Code, 'longer than eight'],
    ['a NUL character', Word, 'a\0b'],
    ['an object', Word, {}],
    ['out of range', Numbered, 2 ** 31],
    ['a fraction', Numbered, 1.5],
    ['a word', Digits, 'x'],
    ['half a UUID', Uuid, '0189f7ea'],
  ]
  for (const [what, entity, key] of unfit)
    it(`is Internal if its column cannot hold it: ${what}`, async () => {
      next = key
      const { message, cause } = await rejection(
        inAcme(() => on(entity).create({})),
        Internal,
      )
      expect(message).to.equal('internal error')
      expect(String(cause)).to.contain('@BeforeInsert()').and.to.contain('key')
    })

  if (backend.name !== 'memory')
    it('is set by a subscriber too', () =>
      inAcme(async () => {
        const { subscribers } = opened.dataSource!
        const subscriber: EntitySubscriberInterface<Plain> = {
          listenTo: () => Plain,
          beforeInsert: async ({ entity }) => {
            await Promise.resolve()
            entity.id ??= 'told'
          },
        }
        subscribers.push(subscriber as never)
        try {
          expect((await on(Plain).create({})).id).to.equal('told')
          expect((await on(Plain).create({ id: 'chosen' })).id).to.equal('chosen')
        } finally {
          subscribers.splice(0)
        }
      }))
})
