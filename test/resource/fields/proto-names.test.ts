import { expect } from 'chai'
import { Column, Entity, PrimaryColumn } from 'typeorm'
import {
  Computed,
  CreateTime,
  ETag,
  OutputOnly,
  ProtoField,
  Resource,
  Secret,
  SoftDeletable,
  TenantScoped,
  UpdateTime,
} from '../../../decorators/index.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import { NoteSchema, SpecimenSchema, SpecimenService } from '../../support/gen/specimens_pb.js'
import { altered } from '../../support/grpc/altered.js'
import { problemsOf } from '../typeorm/declarations.js'

describe('@ProtoField()', () => {
  it('that cannot be says what to write', () => {
    @Resource({ message: NoteSchema, shared: true })
    @Entity('notes')
    class Noted {
      @PrimaryColumn() name!: string
      @ProtoField('text') @Column() body!: string
      @ProtoField('text') @Column() content!: string
      @Column() stars!: number
      @ProtoField('star') @Column() rank!: number
      @ProtoField('Text') @Column() words!: string
      @ProtoField('a b') @Column() blank!: string
      @ProtoField(undefined as never) @Column() none!: string
      @ProtoField('stars') lonely!: string
    }
    expect(problemsOf(Noted)).to.deep.equal([
      'content: body is already the field text: give it another name',
      'rank: @ProtoField("star"): `star` is not in specimens.v1.Note; did you mean `stars`?',
      'words: @ProtoField("Text"): `Text` is not in specimens.v1.Note; did you mean `text`?',
      "blank: @ProtoField() takes the name of a field as in the .proto: such as @ProtoField('create_time')",
      "none: @ProtoField() takes the name of a field as in the .proto: such as @ProtoField('create_time')",
      'lonely: @ProtoField("stars") is not on a column: add @Column()',
    ])
  })

  it('and a property with the name of its field are told apart', () => {
    @Resource({ message: NoteSchema, shared: true })
    @Entity('notes')
    class Noted {
      @PrimaryColumn() name!: string
      @Column() text!: string
      @ProtoField('text') @Secret() body?: Secret
      @ProtoField('stars') @Computed(() => 1) rank!: number
      @Column({ name: 'star_count' }) stars!: number
    }
    expect(problemsOf(Noted)).to.deep.equal([
      'body: text is already the field text: give it another name',
      'rank: stars is already the field stars: give it another name',
    ])
  })

  it('names no field of another role', () => {
    @Resource({ message: SpecimenSchema })
    @Entity('specimens')
    @TenantScoped()
    @SoftDeletable()
    class Wrong {
      @ProtoField('etag') @PrimaryColumn() id!: string
      accountId!: string
      @ProtoField('create_time') @UpdateTime() createdAt!: Date
      @ProtoField('update_time') @Column() updatedAt!: Date
      @ProtoField('account_id') @Column() owner!: string
      @ETag() etag!: string
    }
    expect(problemsOf(Wrong).filter((one) => one.includes('which holds'))).to.deep.equal([
      'id is the field etag, which holds the etag, but it is the key: name another field',
      'createdAt is the field create_time, which holds the create time, but it is the update time: name another field',
      'updatedAt is the field update_time, which holds the update time: write @UpdateTime() instead of @Column(), or add @OutputOnly() if your code sets it',
      'owner is the field account_id, which holds the tenant: write @TenantColumn() beside it',
    ])
  })

  it('is advised where a property of the role has no field', () => {
    const service = altered(SpecimenService, (proto) => {
      for (const { name } of [...proto.message('Specimen').field])
        if (!['id', 'account_id', 'create_time', 'etag'].includes(name)) proto.removeField('Specimen', name)
    })
    @Resource({ message: service.method.getSpecimen.output as never })
    @Entity('specimens')
    @TenantScoped()
    class Advised {
      @PrimaryColumn() id!: string
      accountId!: string
      @CreateTime() createdAt!: Date
      @ETag() version!: string
    }
    expect(problemsOf(Advised)).to.deep.equal([
      "specimens.v1.Specimen has a field create_time, but no property createTime stores it: write @ProtoField('create_time') above the property createdAt",
      "specimens.v1.Specimen has a field etag, but no property etag stores it: write @ProtoField('etag') above the property version",
    ])
  })

  it('names the property in filters where there is no message', () => {
    @Resource({ shared: true })
    @Entity('things')
    class Thing {
      @PrimaryColumn() id!: string
      @ProtoField('title') @Column() heading!: string
      @ProtoField('create_time') @CreateTime({ filterable: true }) createdAt!: Date
      @OutputOnly() @ProtoField('update_time') @Column() updatedAt!: Date
    }
    const model = resourceModel(Thing)
    expect(Object.keys(model.columns)).to.deep.equal(['id', 'title', 'create_time'])
    expect(Object.fromEntries(model.codeNames ?? [])).to.deep.equal({
      heading: 'title',
      createdAt: 'create_time',
      created_at: 'create_time',
      updatedAt: 'update_time',
      updated_at: 'update_time',
    })
  })

  it('rejects an entity in which code could mean two fields by one name', () => {
    @Resource({ shared: true })
    @Entity('things')
    class Thing {
      @PrimaryColumn() id!: string
      @ProtoField('due_time') @Column() deadline!: Date
      @ProtoField('end_time') @Column() dueTime!: Date
    }
    expect(problemsOf(Thing)).to.have.length(1)
    expect(problemsOf(Thing)[0])
      .to.include('due_time means the field end_time as the property dueTime')
      .and.to.include('rename one of them')
  })
})
