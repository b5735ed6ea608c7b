import { FieldDescriptorProto_Type as Type } from '@bufbuild/protobuf/wkt'
import { expect } from 'chai'
import { BeforeInsert, Column, Entity, PrimaryColumn } from 'typeorm'
import { Resource } from '../../../decorators/index.js'
import { InvalidArgument } from '../../../lib/errors.js'
import { MemoryRepository } from '../../../lib/persistence/memory/memory-repository.js'
import { TypeormRepository } from '../../../lib/persistence/sql/typeorm-repository.js'
import { backends, describeOn, openWithTables } from '../../support/databases/backends.js'
import { NoteService } from '../../support/gen/specimens_pb.js'
import { altered } from '../../support/grpc/altered.js'
import { rejection } from '../../support/rejection.js'
import { inAcme } from '../repository/subject.js'

const { output: message } = altered(NoteService, (proto) =>
  proto.addField('Note', 'due_time', Type.MESSAGE, { typeName: '.google.protobuf.Timestamp' }),
).method.getNote

@Resource({ message, type: 'note', shared: true })
@Entity('due_notes')
class DueNote {
  @PrimaryColumn() name!: string
  @Column() text!: string
  @Column() stars!: number
  @Column() dueTime!: Date
}

@Resource({ message, type: 'note', shared: true })
@Entity('timed_notes')
class TimedNote {
  @PrimaryColumn() name!: string
  @Column() text!: string
  @Column() stars!: number
  @Column() dueTime!: Date
  @BeforeInsert() time() {
    if (this.text !== 'untimed') this.dueTime ??= new Date(0)
  }
}

describeOn('a time whose column is NOT NULL', backends, (backend) => {
  it('is required by name, in a create, an update and after a hook', async () => {
    const opened = await openWithTables(backend, [DueNote, TimedNote])
    const of = (entity: typeof DueNote | typeof TimedNote) =>
      (opened.dataSource === undefined
        ? new MemoryRepository(entity)
        : new TypeormRepository(opened.dataSource, entity)) as unknown as TypeormRepository<DueNote>
    const [due, timed] = [of(DueNote), of(TimedNote)]
    const refused = async (call: Promise<unknown>) =>
      expect(((await rejection(call, InvalidArgument)) as InvalidArgument).message).to.include(
        'due_time: is required',
      )
    try {
      await inAcme(async () => {
        await refused(due.create({ name: 'a' }))
        const made = await due.create({ name: 'a', dueTime: new Date(0) })
        await refused(due.update('a', {}, ['due_time'] as never))
        await refused(due.update('a', Object.assign(new DueNote(), made, { dueTime: undefined })))
        expect((await timed.create({ name: 'a' })).dueTime).to.deep.equal(new Date(0))
        await refused(timed.create({ name: 'b', text: 'untimed' }))
      })
    } finally {
      await opened.close()
    }
  })
})
