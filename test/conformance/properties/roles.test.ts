import { expect } from 'chai'
import {
  Column,
  CreateDateColumn,
  DeleteDateColumn,
  Entity,
  JoinColumn,
  ManyToOne,
  PrimaryColumn,
  UpdateDateColumn,
  VersionColumn,
} from 'typeorm'
import { Emits, Resource, TenantScoped } from '../../../decorators/index.js'
import { DeclarationError, ErrNotFound, InvalidArgument } from '../../../lib/errors.js'
import type { Repository } from '../../../lib/persistence/contract/repository.js'
import { MemoryDatabase } from '../../../lib/persistence/memory/memory-database.js'
import { MemoryRepository } from '../../../lib/persistence/memory/memory-repository.js'
import { filter } from '../../../lib/persistence/query/filter-template.js'
import { TypeormRepository } from '../../../lib/persistence/sql/typeorm-repository.js'
import { type EntityClass, resourceModel } from '../../../lib/resource/resource-model.js'
import { applyBaseline } from '../../support/databases/baseline.js'
import { backends, describeOn, coalesced, openWithTables } from '../../support/databases/backends.js'
import { NoteSchema } from '../../support/gen/specimens_pb.js'
import { rejection } from '../../support/rejection.js'
import { inAcme } from '../repository/subject.js'

abstract class Kept {
  @CreateDateColumn() createdAt!: Date
  @UpdateDateColumn() updatedAt!: Date
  @DeleteDateColumn() deletedAt?: Date
  @VersionColumn() version!: number
}

/** No field of the message names its times and its version. */
@Resource({ message: NoteSchema, type: 'note' })
@Entity('kept_notes')
@TenantScoped()
@Emits()
class Note extends Kept {
  @PrimaryColumn({ length: 40 }) name!: string
  @Column({ length: 40 }) text!: string
  @Column() stars!: number
  accountId!: string
}

@Resource()
@Entity('kept_comments')
@TenantScoped()
class Comment extends Kept {
  @PrimaryColumn({ length: 40 }) id!: string
  @Column({ length: 40 }) noteName!: string
  @ManyToOne(() => Note, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'note_name' })
  note?: Note
  accountId!: string
}

describeOn(
  "times and versions of TypeORM's decorators in a new table",
  [...backends, ...coalesced],
  (backend) => {
    it('sets the times and counts the version on each write', async () => {
      const { dataSource, close } = await openWithTables(backend, [Note, Comment])
      if (dataSource !== undefined) await applyBaseline(dataSource)
      let now = new Date('2026-01-02T03:04:05.678Z')
      const options = { now: () => now }
      const database = new MemoryDatabase()
      const of = <E extends object>(entity: EntityClass<E>) =>
        (dataSource === undefined
          ? new MemoryRepository(entity, { ...options, database })
          : new TypeormRepository(dataSource, entity, options)) as unknown as Repository<E>
      const [notes, comments] = [of(Note), of(Comment)]
      try {
        await inAcme(async () => {
          const made = await notes.create({ name: 'a', text: 't', stars: 1 })
          expect(made).to.deep.include({ createdAt: now, updatedAt: now, deletedAt: undefined, version: 1 })
          await comments.create({ id: 'c', noteName: 'a' })
          now = new Date(now.getTime() + 1000)
          const second = await notes.update('a', { stars: 2 }, ['stars'])
          expect(second).to.deep.include({ createdAt: made.createdAt, updatedAt: now, version: 2 })
          const whole = Object.assign(new Note(), { name: 'a', text: 'u', stars: 3, version: 77 })
          expect((await notes.update('a', whole)).version).to.equal(3)
          const items = [{ key: 'a', entity: { stars: 4 }, fieldMask: ['stars'] as const }]
          expect((await notes.batchUpdate(items)).map(({ version }) => version)).to.deep.equal([4])
          await notes.updateMany(filter`name = ${'a'}`, { stars: 5 })
          const each = await Promise.all([6, 7, 8].map((stars) => notes.update('a', { stars }, ['stars'])))
          expect(each.map(({ version }) => version)).to.have.members([6, 7, 8])
          await rejection(notes.update('a', { version: 1 }, ['version' as never]), InvalidArgument)
          await notes.delete('a')
          await rejection(notes.get('a'), ErrNotFound)
          const [deleted] = (await comments.list({ showDeleted: true })).items
          expect(deleted).to.deep.include({ deletedAt: now, version: 2 })
          expect((await notes.undelete('a')).version).to.equal(10)
          expect((await comments.get('c')).version).to.equal(3)
          if (dataSource === undefined) return
          const manager = dataSource.getRepository(Note)
          const theirs = Object.assign(new Note(), { name: 'b', text: 't', stars: 1, accountId: 'acme' })
          await manager.save(theirs)
          expect((await notes.get('b')).createdAt).to.be.instanceOf(Date)
          expect((await notes.update('b', { stars: 2 }, ['stars'])).version).to.equal(2)
          const found = await manager.findOneByOrFail({ name: 'b' })
          await manager.save(Object.assign(found, { stars: 3 }))
          expect(await notes.get('b')).to.include({ version: 3, stars: 3 })
        })
      } finally {
        await close()
      }
    })

    it('hides them from clients', () => {
      const { columns, writable } = resourceModel(Note)
      expect(Object.keys(columns).sort()).to.deep.equal(['name', 'stars', 'text'])
      expect([...writable].sort()).to.deep.equal(['stars', 'text'])
    })
  },
)

describe('a version', () => {
  it('is one of each class', () => {
    @Resource({ shared: true })
    @Entity('twice_counted')
    class Twice {
      @PrimaryColumn() id!: string
      @VersionColumn() version!: number
      @VersionColumn() other!: number
    }
    expect(() => resourceModel(Twice)).to.throw(DeclarationError, 'two properties are declared as version')
  })
})
