import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import { expect } from 'chai'
import { Column, Entity, PrimaryColumn } from 'typeorm'
import { CreateTime, ETag } from '../../decorators/server-set.js'
import { Expirable } from '../../decorators/expirable.js'
import { OutputOnly } from '../../decorators/output-only.js'
import { Resource } from '../../decorators/resource.js'
import { Secret } from '../../decorators/secret.js'
import { SoftDeletable } from '../../decorators/soft-deletable.js'
import { Tags } from '../../decorators/tags.js'
import { TenantScoped } from '../../decorators/tenant-scoped.js'
import { DeclarationError } from '../../lib/errors.js'
import { resourceModel } from '../../lib/resource/resource-model.js'
import { EchoRequestSchema, NoteSchema, Specimen_Phase, SpecimenSchema } from '../support/gen/specimens_pb.js'
import { Note, Specimen } from '../support/entities/specimen.js'

@Resource({ shape: 'ent', type: 'crate' })
@Entity()
@TenantScoped()
@SoftDeletable()
class PackingCrate {
  @PrimaryColumn() id!: string
  @Column() lengthInMM!: number
  @Column({ name: 'w' }) width!: number
  @OutputOnly() @Column() weighedBy!: string
  @OutputOnly({ filterable: true }) @Column() weight!: number
  @Tags() labels!: Record<string, string>
}

class Base {
  @PrimaryColumn() id!: string
  @CreateTime({ filterable: true }) createTime!: Date
}

@Resource({ shared: true })
@Entity('derived')
class Derived extends Base {
  @Column() own!: string
}

const problemsOf = (entity: new () => object): readonly string[] => {
  try {
    resourceModel(entity)
  } catch (error) {
    if (error instanceof DeclarationError) return error.problems
    throw error
  }
  return []
}

describe('resourceModel', () => {
  it('is computed once and frozen', () => {
    const model = resourceModel(Specimen)
    expect(resourceModel(Specimen)).to.equal(model)
    expect(model).to.be.frozen
    expect(model.fields.every(Object.isFrozen)).to.equal(true)
  })

  it('names columns in snake_case, by the name they are given, and by the shape', () => {
    const columns = Object.fromEntries(
      resourceModel(PackingCrate).fields.map(({ property, column }) => [property, column]),
    )
    expect(columns).to.include({
      lengthInMM: 'length_in_mm',
      width: 'w',
      accountId: 'account_id',
      deleteTime: 'delete_time',
    })
    expect(resourceModel(Specimen).deleteTime?.column).to.equal('deleted_at')
    expect(resourceModel(PackingCrate)).to.include({ table: 'packing_crate', type: 'crate', shape: 'ent' })
  })

  it('without a message, proto names are the snake_case of the properties', () => {
    expect([...resourceModel(PackingCrate).writable]).to.deep.equal(['length_in_mm', 'width', 'labels'])
  })

  it('columns: excludes secrets, credentials and output-only fields unless they are filterable', () => {
    expect(Object.keys(resourceModel(PackingCrate).columns)).to.deep.equal([
      'id',
      'length_in_mm',
      'width',
      'weight',
      'labels',
    ])
    expect(Object.keys(resourceModel(Specimen).columns)).to.include.members([
      'id',
      'title',
      'create_time',
      'tags',
    ])
    expect(Object.keys(resourceModel(Specimen).columns)).to.not.include.members([
      'serial',
      'webhook_secret',
      'api_key',
      'bin',
      'account_id',
      'delete_time',
      'etag',
      'labels',
      'origin',
    ])
  })

  it('jsonColumns: tags fields', () => {
    expect(Object.keys(resourceModel(Specimen).jsonColumns)).to.deep.equal(['tags'])
  })

  it('inherits columns and what decorators said of them', () => {
    expect(resourceModel(Derived).fields.map(({ column }) => column)).to.have.members([
      'id',
      'create_time',
      'own',
    ])
    expect(Object.keys(resourceModel(Derived).columns)).to.include('create_time')
  })

  it('has the columns of a secret and of a credential, and no property of an entity shows them', () => {
    const columns = resourceModel(Specimen).fields.map(({ column }) => column)
    expect(columns).to.include.members([
      'webhook_secret_hash',
      'webhook_secret_cipher',
      'api_key_public_id',
      'api_key_salt',
      'api_key_hash',
      'api_key_hashspec',
    ])
    expect(columns).to.not.include.members(['webhook_secret', 'api_key'])
    expect(
      resourceModel(Specimen)
        .entityFields.map(({ column }) => column)
        .filter((column) => /secret|api_key/.test(column)),
    ).to.deep.equal([])
  })

  describe('refuses, all in one error', () => {
    it('a message field that no property stores, and a property of the wrong type', () => {
      @Resource({ message: NoteSchema, shared: true })
      @Entity()
      class BadNote {
        @PrimaryColumn() name!: string
        @Column() stars!: string
      }
      expect(problemsOf(BadNote)).to.deep.equal([
        'stars is int32 in the message: declare it as number, not String',
        'specimens.v1.Note has a field text, but no property text stores it: add one with @Column()',
      ])
    })

    it('an optional field whose column is not nullable, and the reverse', () => {
      @Resource({ message: SpecimenSchema })
      @Entity()
      @TenantScoped()
      class BadSpecimen {
        @PrimaryColumn() id!: string
        @Column() note!: string
        @Column({ nullable: true }) title!: string
      }
      expect(problemsOf(BadSpecimen)).to.include.members([
        'note is optional in the message: its column must be nullable, as in @Column({ nullable: true })',
        'title is not optional in the message, so it cannot distinguish absent from empty: remove nullable, or write optional in the .proto',
      ])
    })

    it('a member of a oneof whose column is not nullable', () => {
      @Resource({ message: EchoRequestSchema, shared: true })
      @Entity()
      class BadEcho {
        @PrimaryColumn() text!: string
        @Column() left!: string
      }
      const problems = problemsOf(BadEcho)
      expect(problems).to.include(
        'left is in the oneof choice: its column must be nullable, as in @Column({ nullable: true })',
      )
    })

    it('a class without @Resource or @Entity', () => {
      class Plain {}
      expect(problemsOf(Plain)[0]).to.match(/not a resource/)
      @Resource({ shared: true })
      class NoEntity {
        @PrimaryColumn() id!: string
      }
      expect(problemsOf(NoEntity)[0]).to.match(/not a TypeORM entity/)
    })

    it('no key, two keys, a generated key', () => {
      @Resource({ shared: true })
      @Entity()
      class NoKey {
        @Column() text!: string
      }
      @Resource({ shared: true })
      @Entity()
      class TwoKeys {
        @PrimaryColumn() id!: string
        @PrimaryColumn() other!: string
      }
      for (const entity of [NoKey, TwoKeys]) expect(problemsOf(entity)[0]).to.match(/exactly one key/)
    })

    it('columns that would not be seen', () => {
      @Resource({ shared: true })
      @Entity()
      class Quiet {
        @PrimaryColumn() id!: string
        @Column({ name: 'account_id' }) tenantId!: string
        @Column({ nullable: true }) delete_time?: Date
      }
      expect(problemsOf(Quiet).map((problem) => problem.split(':')[0])).to.deep.equal([
        'delete_time',
        'shared',
      ])
    })

    it('a property that is two things, and @Resource below the others', () => {
      expect(() => {
        class Both {
          @ETag() @Secret() token!: string
        }
        return Both
      }).to.throw(DeclarationError, /declared as secret and as etag/)
      expect(() => {
        @SoftDeletable()
        @Resource()
        @Entity()
        class Upside {
          @PrimaryColumn() id!: string
        }
        return Upside
      }).to.throw(DeclarationError, /write @Resource above @SoftDeletable/)
    })

    for (const ttl of ['', '30', '0d', '-1d', '1w', '1.5h', '30 d'])
      it(`the ttl ${JSON.stringify(ttl)}`, () => {
        expect(() => Expirable({ ttl })).to.throw(RangeError, /such as 30d/)
      })
  })

  describe('conversions', () => {
    const model = resourceModel(Specimen)
    const entity = Object.assign(new Specimen(), {
      id: 'a',
      accountId: 'acme',
      title: 'T',
      active: true,
      count: 1,
      weight: 2,
      big: 2n ** 60n,
      huge: 3n,
      ratio: 0.5,
      score: 1.5,
      blob: new Uint8Array([1, 2]),
      phase: Specimen_Phase.SET,
      dueTime: new Date('1969-12-31T23:59:59.250Z'),
      span: -1_500_000_000n,
      labels: ['x'],
      origin: { quarry: 'Q', depth: 5n, crew: ['y'] },
      tags: { k: 'v' },
      code: 'c',
      serial: 's',
      etag: 'e',
      createTime: new Date(0),
      updateTime: new Date(1),
      bin: 'internal',
      webhookSecret: 'hush',
    })

    it('toMessage returns what survives the wire, without internals and secrets', () => {
      const message = model.toMessage(entity)
      const decoded = fromBinary(SpecimenSchema, toBinary(SpecimenSchema, message as never))
      expect(decoded).to.deep.include({
        id: 'a',
        big: 2n ** 60n,
        phase: Specimen_Phase.SET,
        serial: 's',
        webhookSecret: '',
        apiKey: '',
        accountId: 'acme',
      })
      expect(decoded.span).to.deep.include({ seconds: -1n, nanos: -500_000_000 })
      expect(decoded.dueTime).to.deep.include({ seconds: -1n, nanos: 250_000_000 })
      expect(decoded.rank).to.equal(undefined)
      expect(
        JSON.stringify(message, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
      ).to.not.match(/internal|hush/)
    })

    it('fromMessage gives the entity back, less what only the server writes', () => {
      const back = model.fromMessage(model.toMessage(entity))
      expect(back).to.be.instanceOf(Specimen)
      expect(back).to.deep.include({
        title: 'T',
        big: 2n ** 60n,
        dueTime: entity.dueTime,
        span: entity.span,
        origin: entity.origin,
        labels: ['x'],
        etag: 'e',
      })
      expect(back).to.not.have.any.keys(
        'serial',
        'accountId',
        'createTime',
        'updateTime',
        'deleteTime',
        'bin',
      )
    })

    it('fromMessage takes a secret a client sends', () => {
      expect(model.fromMessage(create(SpecimenSchema, { webhookSecret: 'hush' })).webhookSecret).to.equal(
        'hush',
      )
    })

    it('a time below a millisecond is cut', () => {
      const message = create(SpecimenSchema, { dueTime: { seconds: 1n, nanos: 1_999_999 } })
      expect(model.fromMessage(message).dueTime).to.deep.equal(new Date(1001))
    })

    it('a resource without a message says what to do', () => {
      expect(() => resourceModel(Derived).toMessage(new Derived())).to.throw(
        TypeError,
        /@Resource\(\{ message/,
      )
    })

    it('knows the smallest resource', () => {
      expect(resourceModel(Note)).to.include({
        tenant: undefined,
        etag: undefined,
        deleteTime: undefined,
        tenantInKey: false,
      })
    })
  })
})
