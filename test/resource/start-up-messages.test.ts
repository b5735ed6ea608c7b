import { expect } from 'chai'
import { Column, CreateDateColumn, Entity, Index, PrimaryColumn, Unique } from 'typeorm'
import { Internal, Resource, Searchable, TenantScoped } from '../../decorators/index.js'
import { WidgetSchema, type Widget_State } from '../../examples/widgets/gen/widgets_pb.js'
import { EchoRequestSchema, NoteSchema, SpecimenSchema } from '../support/gen/specimens_pb.js'
import { problemsOf } from './typeorm/declarations.js'

const SUPPORTED =
  /; supported types are string \(varchar, text, char, .*\), UUID \(uuid, binary\), day \(date\), number \(int, integer, .*\), bigint \(bigint, int8\), fractions of 32 bits \(.*real.*\), fractions of 64 bits \(.*double precision.*\), decimal \(decimal, numeric\), boolean \(boolean, bool\), Date \(timestamp, .*\), Uint8Array \(bytea, blob, .*\), arrays and objects \(json, jsonb, simple-json, simple-array\)$/

describe('what is said of a field that does not fit', () => {
  it('reports a string for a time that Ashlar sets', () => {
    @Resource({ shared: true })
    @Entity('files')
    class File {
      @PrimaryColumn() id!: string
      @Column('timestamp') at!: string
      @CreateDateColumn({ type: 'timestamp' }) createTime!: string
    }
    expect(problemsOf(File)).to.deep.equal(['createTime is timestamp: declare it as Date, not String'])
  })

  describe('a misspelt property', () => {
    it('names the property and the field of the message', () => {
      @Resource({ message: NoteSchema, shared: true })
      @Entity('notes')
      class Note {
        @PrimaryColumn() nmae!: string
        @Column() txt!: string
        @Column() stars!: number
      }
      expect(problemsOf(Note)).to.include.members([
        "specimens.v1.Note has a field name, but no property name stores it: `nmae` is not in Note; did you mean `name`? Or write @ProtoField('name') above the property nmae",
        "specimens.v1.Note has a field text, but no property text stores it: `txt` is not in Note; did you mean `text`? Or write @ProtoField('text') above the property txt",
      ])
    })

    it('is none for a property that has the name of the field as the .proto has it', () => {
      @Resource({ message: WidgetSchema })
      @Entity('widgets')
      @TenantScoped()
      class Widget {
        @PrimaryColumn() id!: string
        @Column() display_name!: string
      }
      expect(problemsOf(Widget).filter((text) => text.includes('display'))).to.deep.equal([])
    })

    it('names the property that hides the field', () => {
      @Resource({ message: NoteSchema, shared: true })
      @Entity('notes')
      class Note {
        @PrimaryColumn() name!: string
        @Internal() @Column() text!: string
        @Column() stars!: number
      }
      expect(problemsOf(Note)).to.deep.equal([
        'specimens.v1.Note has a field text, but no property text stores it: remove @Internal() from the property text, or remove the field',
      ])
    })

    it('is told once, and never for what is only internal', () => {
      @Resource({ message: NoteSchema, shared: true })
      @Entity('notes')
      class Note {
        @PrimaryColumn() name!: string
        @Column() texts!: string
        @Column() internalMemo!: string
      }
      expect(problemsOf(Note)).to.deep.equal([
        "specimens.v1.Note has a field text, but no property text stores it: `texts` is not in Note; did you mean `text`? Or write @ProtoField('text') above the property texts",
        'specimens.v1.Note has a field stars, but no property stars stores it: add one with @Column()',
      ])
    })

    it('is told in @Index, @Unique and @Searchable', () => {
      @Resource({ shared: true })
      @Searchable({ sources: ['titel'] })
      @Entity('books')
      @Unique(['titlee'])
      @Index(['isbnn', 'title'])
      class Book {
        @PrimaryColumn() id!: string
        @Column() title!: string
        @Column() isbn!: string
      }
      expect(problemsOf(Book)).to.have.members([
        '@Searchable: there is no property titel: `titel` is not in Book; did you mean `title`?',
        '@Unique(): `titlee` is not in Book; did you mean `title`?',
        '@Index(): `isbnn` is not in Book; did you mean `isbn`?',
      ])
    })
  })

  describe('a field that no property stores', () => {
    it('is told with the decorator that stands for it', () => {
      @Resource({ message: SpecimenSchema })
      @Entity('specimens')
      class Specimen {
        @PrimaryColumn() id!: string
      }
      const problems = problemsOf(Specimen)
      const advice = (field: string) =>
        problems.find((problem) => problem.includes(`has a field ${field},`))?.split(' stores it: ')[1]
      expect(advice('delete_time')).to.equal('write @SoftDeletable() below @Resource()')
      expect(advice('expire_time')).to.equal('write @Expirable() below @Resource()')
      expect(advice('etag')).to.equal('add @ETag() etag!: string')
      expect(advice('create_time')).to.equal('add @CreateTime() createTime!: Date')
      expect(advice('update_time')).to.equal('add @UpdateTime() updateTime!: Date')
      expect(advice('tags')).to.equal('add one with @Tags()')
      expect(advice('title')).to.equal('add one with @Column()')
      expect(problems.filter((problem) => /account_?id/i.test(problem))).to.deep.equal([
        'it does not declare to whom its entities belong: write @TenantScoped() below @Resource() if each belongs to a tenant, as account_id in specimens.v1.Specimen suggests, or @Resource({ shared: true }) if all tenants share them; an application without tenants calls withoutTenants() once',
      ])
    })

    it('says that the column of a member of a oneof is nullable', () => {
      @Resource({ message: EchoRequestSchema, shared: true })
      @Entity('echoes')
      class Echo {
        @PrimaryColumn() text!: string
      }
      const problems = problemsOf(Echo).filter((problem) => /oneof|left|right/.test(problem))
      expect(problems).to.include(
        'specimens.v1.EchoRequest has a field left, but no property left stores it: add one with @Column({ nullable: true })',
      )
    })
  })

  describe('a column type', () => {
    const types: readonly (readonly [type: string, advice: string])[] = [
      ['enum', 'make its field an enum in the message'],
      ['inet', 'use another'],
      ['citext', 'use another'],
      ['nonsense', 'use another'],
      ['constructor', 'use another'],
    ]
    for (const [type, advice] of types)
      it(`${type} is refused with those that are supported`, () => {
        class Thing {}
        PrimaryColumn({ type: String })(Thing.prototype, 'id')
        Column({ type: type as never })(Thing.prototype, 'value')
        Entity('things')(Thing)
        Resource({ shared: true })(Thing)
        const [problem = '', ...others] = problemsOf(Thing)
        expect(others).to.deep.equal([])
        expect(problem).to.match(SUPPORTED)
        expect(problem.split('; supported')[0]).to.equal(
          `value has the column type ${type}, which cannot be stored: ${advice}, or add @Internal(), so that Ashlar does not manage it`,
        )
      })

    it('is refused where the message would say what to store instead', () => {
      @Resource({ message: NoteSchema, shared: true })
      @Entity('notes')
      class Note {
        @PrimaryColumn('varchar') name!: string
        @Column('citext' as never) text!: string
        @Column('decimal') stars!: number
      }
      const [text, stars] = problemsOf(Note)
      expect(text).to.match(
        /^text has the column type citext, which cannot be stored: use another, or add @Internal\(\), so that Ashlar does not manage it; supported types are/,
      )
      expect(stars).to.match(/^stars is int32: the column type decimal holds decimals/)
    })

    it('of a property without one is refused by what TypeScript knows of it', () => {
      @Resource({ shared: true })
      @Entity('things')
      class Thing {
        @PrimaryColumn() id!: string
        @Column() list!: string[]
        @Column() either!: string | number
      }
      const [list = '', either = ''] = problemsOf(Thing)
      expect(list).to.match(
        /^list has the column type Array, which cannot be stored: write @Column\('simple-json'\)/,
      )
      expect(either).to.match(/^either has the column type Object, which cannot be stored: name a type/)
    })

    it('is refused when it holds something else than the field', () => {
      @Resource({ message: WidgetSchema })
      @Entity('widgets')
      @TenantScoped()
      class Widget {
        @PrimaryColumn() id!: string
        @Column('int') displayName!: string
        @Column('int') price!: number
        @Column('int') state!: Widget_State
        @Column({ type: 'text', length: 9 }) description!: string
        @Column({ type: 'int', length: 11 }) size!: number
      }
      expect(problemsOf(Widget)).to.include.members([
        'displayName is string: the column type int holds integers; remove it, or use a type for text',
        'price is double: the column type int holds integers; remove it, or use a type for fractions',
        'state is enum: the column type int holds integers; remove it, or use a type for text',
        'description: the column option length is not supported: text has none; use varchar',
        'size: the column option length is not supported: int32 has none',
      ])
    })

    it('of an existing table is not to be left out', () => {
      @Resource({ message: WidgetSchema, existing: true })
      @Entity('widgets')
      @TenantScoped()
      class Widget {
        @PrimaryColumn() id!: string
        @Column('int') displayName!: string
      }
      expect(problemsOf(Widget).filter((one) => one.startsWith('displayName is'))).to.deep.equal([
        'displayName is string: the column type int holds integers; give the message field such a type, or add @Internal(), so that Ashlar does not manage it',
      ])
    })

    it('of an enum has room for its longest name', () => {
      @Resource({ message: WidgetSchema })
      @Entity('widgets')
      @TenantScoped()
      class Widget {
        @PrimaryColumn() id!: string
        @Column({ type: 'varchar', length: 8 }) state!: Widget_State
      }
      expect(problemsOf(Widget)).to.include(
        'state: STATE_UNSPECIFIED is longer than the 8 characters of its column',
      )
    })
  })
})
