import { FieldDescriptorProto_Type as Type } from '@bufbuild/protobuf/wkt'
import { expect } from 'chai'
import {
  Column,
  CreateDateColumn,
  type DataSource,
  Entity,
  PrimaryGeneratedColumn,
  UpdateDateColumn,
  VersionColumn,
} from 'typeorm'
import { Emits, Resource } from '../../../decorators/index.js'
import { TypeormRepository } from '../../../lib/persistence/sql/typeorm-repository.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import { databases, describeOn, openWithTables } from '../../support/databases/backends.js'
import { applyBaseline } from '../../support/databases/baseline.js'
import { NoteService } from '../../support/gen/specimens_pb.js'
import { altered } from '../../support/grpc/altered.js'
import { inAcme } from '../repository/subject.js'

const { output: message } = altered(NoteService, (proto) => {
  proto.addField('Note', 'id', Type.INT32)
  proto.addField('Note', 'version', Type.INT32)
  proto.addField('Note', 'created_at', Type.MESSAGE, { typeName: '.google.protobuf.Timestamp' })
  proto.addField('Note', 'active', Type.BOOL)
  proto.removeField('Note', 'name')
}).method.getNote

/** Options together, as an application has them. */
function combined(naming: 'snake' | 'typeorm') {
  @Resource({ message, shared: true, type: 'note', naming })
  @Entity(`combined_${naming}`)
  @Emits()
  class Combined {
    @PrimaryGeneratedColumn() id!: number
    @Column({ type: 'varchar', length: 40, default: () => "'x'" }) text!: string
    @Column({ default: () => '5' }) stars!: number
    @Column({
      type: 'smallint',
      transformer: { to: (v?: boolean) => (v ? 1 : 0), from: (v: number) => v === 1 },
    })
    active!: boolean
    @Column({
      type: 'date',
      nullable: true,
      transformer: {
        to: (v?: Date) => v?.toISOString().slice(0, 10),
        from: (v: string | null) => (v === null ? undefined : new Date(v)),
      },
    })
    day?: Date
    @Column({
      type: Boolean,
      nullable: true,
      transformer: {
        to: (v?: string) => (v === undefined ? null : v === 'yes'),
        from: (v: boolean | null) => (v === null ? 'none' : v ? 'yes' : 'no'),
      },
    })
    flag?: string
    @Column({
      type: 'simple-json',
      nullable: true,
      transformer: { to: (v?: Set<string>) => v && [...v], from: (v: string[] | null) => new Set(v ?? []) },
    })
    set?: Set<string>
    @CreateDateColumn({ default: () => 'CURRENT_TIMESTAMP' }) createdAt!: Date
    @UpdateDateColumn({ default: () => 'CURRENT_TIMESTAMP', onUpdate: 'CURRENT_TIMESTAMP(6)' })
    updatedAt!: Date
    @VersionColumn() version!: number
  }
  return Combined
}

describeOn('column options together', databases, (backend) => {
  for (const naming of ['snake', 'typeorm'] as const)
    it(`take effect in a table with the naming ${naming}`, async () => {
      const Combined = combined(naming)
      const { dataSource, close } = await openWithTables(backend, [Combined])
      await applyBaseline(dataSource as DataSource)
      const rows = new TypeormRepository(dataSource as DataSource, Combined)
      try {
        await inAcme(async () => {
          const made = await rows.create({
            active: true,
            day: new Date('2026-01-02'),
            flag: 'yes',
            set: new Set(['a']),
          } as never)
          expect(made).to.deep.include({
            text: 'x',
            stars: 5,
            active: true,
            day: new Date('2026-01-02'),
            flag: 'yes',
            set: new Set(['a']),
            version: 1,
          })
          const second = await rows.create({} as never)
          expect(second).to.deep.include({
            text: 'x',
            stars: 5,
            active: false,
            day: undefined,
            flag: 'none',
            set: new Set(),
            version: 1,
          })
          const up = await rows.update(
            made.id as never,
            { active: false, set: new Set(['b']) } as never,
            ['active', 'set'] as never,
            { outputOnly: true } as never,
          )
          expect(up).to.deep.include({ active: false, set: new Set(['b']), version: 2 })
          expect(await rows.get(made.id as never)).to.deep.equal(up)
          expect(resourceModel(Combined).toMessage(up)).to.include({ version: 2, active: false })
          await rows.delete(second.id as never)
          const manager = (dataSource as DataSource).getRepository(Combined)
          const found = await manager.findOneByOrFail({ id: made.id })
          expect(found).to.deep.include({ active: false, flag: 'yes', set: new Set(['b']), version: 2 })
          expect(found.day).to.deep.equal(new Date('2026-01-02'))
          await manager.save(Object.assign(found, { stars: 9 }))
          expect(await rows.get(made.id as never)).to.deep.include({ stars: 9, version: 3 })
        })
      } finally {
        await close()
      }
    })
})
