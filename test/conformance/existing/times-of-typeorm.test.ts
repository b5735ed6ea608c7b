import { expect } from 'chai'
import {
  Column,
  CreateDateColumn,
  type DataSource,
  DeleteDateColumn,
  Entity,
  PrimaryColumn,
  UpdateDateColumn,
} from 'typeorm'
import { Resource } from '../../../decorators/index.js'
import { ErrNotFound } from '../../../lib/errors.js'
import { TypeormRepository } from '../../../lib/persistence/sql/typeorm-repository.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import { databases, describeOn, openWithTables } from '../../support/databases/backends.js'
import { NoteSchema } from '../../support/gen/specimens_pb.js'
import { rejection } from '../../support/rejection.js'
import { inAcme } from '../repository/subject.js'

abstract class Dated {
  @CreateDateColumn() createdAt!: Date
  @UpdateDateColumn() updatedAt!: Date
  @DeleteDateColumn() deletedAt?: Date
}

/** No field of the message names its times. */
@Resource({ message: NoteSchema, type: 'note', shared: true, existing: true, naming: 'typeorm' })
@Entity('dated_notes')
class DatedNote extends Dated {
  @PrimaryColumn({ type: 'varchar', length: 40 }) name!: string
  @Column() text!: string
  @Column() stars!: number
}

describeOn("times of an existing table that TypeORM's decorators alone declare", databases, (backend) => {
  it('sets the times, and a Delete keeps the row', async () => {
    const opened = await openWithTables(backend, [DatedNote])
    const dataSource = opened.dataSource as DataSource
    let now = new Date('2026-01-02T03:04:05.678Z')
    const notes = new TypeormRepository(dataSource, DatedNote, { now: () => now })
    try {
      await inAcme(async () => {
        const made = await notes.create({ name: 'a', text: 't', stars: 1 })
        expect([made.createdAt, made.updatedAt]).to.deep.equal([now, now])
        now = new Date(now.getTime() + 1000)
        const changed = await notes.update('a', { stars: 2 }, ['stars'])
        expect([changed.createdAt, changed.updatedAt]).to.deep.equal([made.createdAt, now])
        await notes.delete('a')
        await rejection(notes.get('a'), ErrNotFound)
        expect(
          (await notes.list({ showDeleted: true })).items.map(({ deletedAt }) => deletedAt),
        ).to.deep.equal([now])
        expect((await notes.undelete('a')).deletedAt).to.equal(undefined)
        await dataSource.getRepository(DatedNote).softDelete('a')
        await rejection(notes.get('a'), ErrNotFound)
      })
    } finally {
      await opened.close()
    }
  })

  it('hides the times from clients', () => {
    const { columns, writable } = resourceModel(DatedNote)
    expect(Object.keys(columns).sort()).to.deep.equal(['name', 'stars', 'text'])
    expect([...writable].sort()).to.deep.equal(['stars', 'text'])
  })
})
