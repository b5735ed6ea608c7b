import { create, type DescMessage, type MessageInitShape, setExtension } from '@bufbuild/protobuf'
import { FieldDescriptorProto_Type as Type, MessageOptionsSchema } from '@bufbuild/protobuf/wkt'
import { expect } from 'chai'
import { Column, Entity, PrimaryColumn } from 'typeorm'
import {
  BookService,
  BookSchema,
  type Book as BookMessage,
} from '../../../examples/library/gen/library_pb.js'
import { Resource, TenantScoped } from '../../../decorators/index.js'
import { InvalidArgument } from '../../../lib/errors.js'
import { resource, type ResourceDescriptorSchema } from 'ashlar-annotations/google/api/resource_pb.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import { Edition, Policy, Publisher } from '../../support/entities/edition.js'
import { altered, type Altered } from '../../support/grpc/altered.js'
import { problemsOf } from '../typeorm/declarations.js'

const TYPE = 'library.example.com/Book'

/** The message of a book with another annotation. */
function bookWith(
  annotation: MessageInitShape<typeof ResourceDescriptorSchema>,
  change: (proto: Altered) => void = () => {},
): DescMessage {
  const service = altered(BookService, (proto) => {
    const message = proto.message('Book')
    message.options = create(MessageOptionsSchema)
    setExtension(message.options, resource, { type: TYPE, ...annotation } as never)
    proto.removeField('Book', 'etag')
    change(proto)
  })
  return service.method.getBook.output
}

/** A book that keeps its parts as the library does. */
function shelved(message: DescMessage) {
  @Resource({ message })
  @Entity('books')
  @TenantScoped()
  class Book {
    @PrimaryColumn() id!: string
    @Column() shelfId!: string
    @Column() author!: string
    @Column() title!: string
    @Column() read!: boolean
    accountId!: string
  }
  return Book
}

const WHERE = 'google.api.resource of library.v1.Book'

describe('the name of a resource', () => {
  it('is computed from the key and the fields of the other variables', () => {
    const { name, key } = resourceModel(Edition)
    expect(name?.type).to.equal('editions.example.com/Edition')
    expect(name?.pattern).to.equal('publishers/{publisher}/series/{series}/editions/{edition}')
    expect([name?.singular, name?.plural]).to.deep.equal(['edition', 'editions'])
    expect(name?.variables.map((variable) => [variable.name, variable.field.property])).to.deep.equal([
      ['publisher', 'publisherId'],
      ['series', 'seriesId'],
      ['edition', 'id'],
    ])
    expect(name?.variables.at(-1)?.field).to.equal(key)
    expect(name?.parent?.text).to.equal('publishers/{publisher}/series/{series}')
    const edition = Object.assign(new Edition(), { publisherId: 'p', seriesId: 's', id: 'e' })
    expect(name?.format(edition)).to.equal('publishers/p/series/s/editions/e')
    expect(name?.parse('publishers/p/series/s/editions/e')).to.deep.equal(['p', 's', 'e'])
    expect(name?.parse('publishers/p')).to.equal(undefined)
    expect(name?.format(new Edition())).to.equal('')
  })

  it('has no parent at the top, and the key of its parent where it is a singleton', () => {
    expect(resourceModel(Publisher).name?.parent).to.equal(undefined)
    const { name, key } = resourceModel(Policy)
    expect(name?.isSingleton).to.equal(true)
    expect(name?.parent?.text).to.equal('publishers/{publisher}')
    expect(key.property).to.equal('publisherId')
    expect(name?.format(Object.assign(new Policy(), { publisherId: 'p' }))).to.equal('publishers/p/policy')
  })

  it('is in every message, and in no entity of a message', () => {
    const model = resourceModel(Edition)
    const edition = Object.assign(new Edition(), { publisherId: 'p', seriesId: 's', id: 'e', title: 't' })
    expect(model.toMessage(edition)).to.include({ name: 'publishers/p/series/s/editions/e', seriesId: 's' })
    const entity = model.fromMessage(model.toMessage(edition))
    expect(entity).to.not.have.property('name')
    expect(entity).to.not.have.property('id')
    expect(entity).to.not.have.property('publisherId')
  })

  it('is not a column, and no mask names a part of it', () => {
    const model = resourceModel(Edition)
    expect(model.byProto.has('name')).to.equal(false)
    expect(model.closed.has('name')).to.equal(true)
    expect([...model.writable]).to.have.members(['title', 'pages'])
    expect(model.columns).to.have.property('series_id')
  })

  it('refuses what no name can hold', () => {
    const model = resourceModel(Edition)
    for (const id of ['a/b', '-', '.', '..', '/'])
      expect(() => model.checkValues({ id }), id)
        .to.throw(InvalidArgument)
        .with.property('field', 'id')
    for (const publisherId of ['', 'a/b', '-'])
      expect(() => model.checkValues({ publisherId }))
        .to.throw(InvalidArgument)
        .with.property('field', 'publisher_id')
    model.checkValues({ id: 'Ä b', publisherId: '%2F', seriesId: '--' })
  })

  const refusals: readonly (readonly [
    string,
    MessageInitShape<typeof ResourceDescriptorSchema>,
    readonly string[],
  ])[] = [
    [
      'several patterns',
      { pattern: ['shelves/{shelf}/books/{book}', 'books/{book}'] },
      [
        `${WHERE} has several patterns, shelves/{shelf}/books/{book} and books/{book}: keep one, because a name is computed from one set of fields`,
      ],
    ],
    [
      'any name',
      { pattern: ['*'] },
      [
        `${WHERE}: the pattern * cannot be used: "*" stands for any name: write the one pattern of the resource`,
      ],
    ],
    [
      'a variable without a field',
      { pattern: ['rooms/{reading_room}/shelves/{shelf}/books/{book}'] },
      [
        'the variable {reading_room} in the pattern rooms/{reading_room}/shelves/{shelf}/books/{book} has no property: add @Column() readingRoomId!: string',
      ],
    ],
    [
      'a variable that cannot be a key',
      { pattern: ['reads/{read}/books/{book}'] },
      [
        'the variable {read} in the pattern reads/{read}/books/{book} is the property read, which must be a string, a uuid or an integer',
      ],
    ],
    [
      'a type that is none',
      { type: 'Book', pattern: ['shelves/{shelf}/books/{book}'] },
      [`${WHERE}: the type "Book" must be a service and a kind, such as library.example.com/Book`],
    ],
    [
      'a name_field that is not there',
      { pattern: ['shelves/{shelf}/books/{book}'], nameField: 'path' },
      [`${WHERE}: there is no field path: name_field must name the field that contains the name`],
    ],
    [
      'a name that is not a string',
      { pattern: ['shelves/{shelf}/books/{book}'], nameField: 'read' },
      [`${WHERE}: read must be a string without presence, because it contains the name`],
    ],
  ]
  for (const [title, annotation, problems] of refusals)
    it(`is refused at start-up for ${title}`, () => {
      expect(problemsOf(shelved(bookWith(annotation)))).to.include.members(problems)
    })

  it('is refused at start-up where a property stores it', () => {
    @Resource({ message: bookWith({ pattern: ['books/{book}'] }) })
    @Entity('books')
    @TenantScoped()
    class Book {
      @PrimaryColumn() name!: string
      @Column() author!: string
      @Column() title!: string
      @Column() read!: boolean
      accountId!: string
    }
    expect(problemsOf(Book)).to.deep.equal([
      'name is the name books/{book}, which is computed: remove the property, and store the parts of the name in their own properties, as in @PrimaryColumn() id!: string',
    ])
  })

  it('is refused at start-up where the key is of another variable, or a part can be missing', () => {
    @Resource({ message: bookWith({ pattern: ['shelves/{shelf}/books/{book}'] }) })
    @Entity('books')
    @TenantScoped()
    class Book {
      @PrimaryColumn() shelfId!: string
      @Column() author!: string
      @Column() title!: string
      @Column() read!: boolean
      accountId!: string
    }
    expect(problemsOf(Book)).to.deep.equal([
      'the variable {shelf} in the pattern shelves/{shelf}/books/{book} is the property shelfId, which is the key: the last variable of a pattern is the key, and the others have their own fields',
    ])

    @Resource({ message: bookWith({ pattern: ['shelves/{shelf}/books/{book}'] }) })
    @Entity('books')
    @TenantScoped()
    class Lost {
      @PrimaryColumn() id!: string
      @Column({ type: String, nullable: true }) shelfId?: string
      @Column() author!: string
      @Column() title!: string
      @Column() read!: boolean
      accountId!: string
    }
    expect(problemsOf(Lost)).to.deep.equal([
      'the variable {shelf} in the pattern shelves/{shelf}/books/{book} is the property shelfId, which must not be nullable: every resource has a complete name',
    ])
  })

  it('can stand in a field of another name', () => {
    const message = bookWith({ pattern: ['shelves/{shelf}/books/{book}'], nameField: 'path' }, (proto) => {
      proto.removeField('Book', 'name')
      proto.addField('Book', 'path', Type.STRING)
    })
    const model = resourceModel(shelved(message))
    const book = Object.assign(model.create(), { id: 'b', shelfId: 's' })
    expect(model.toMessage(book)).to.include({ path: 'shelves/s/books/b' })
  })

  it('is none where the message has no field for it, or the annotation no pattern', () => {
    const nameless = bookWith({ pattern: ['shelves/{shelf}/books/{book}'] }, (proto) =>
      proto.removeField('Book', 'name'),
    )
    expect(resourceModel(shelved(nameless)).name).to.equal(undefined)

    @Resource({ message: bookWith({}) })
    @Entity('books')
    @TenantScoped()
    class Book {
      @PrimaryColumn() name!: string
      @Column() author!: string
      @Column() title!: string
      @Column() read!: boolean
      accountId!: string
    }
    const model = resourceModel(Book)
    expect(model.name).to.equal(undefined)
    expect(model.toMessage<BookMessage>(Object.assign(model.create(), { name: 'n' })).name).to.equal('n')
  })

  it('needs a property for no other field of the message', () => {
    expect(problemsOf(shelved(BookSchema))).to.deep.equal([
      'library.v1.Book has a field etag, but no property etag stores it: add @ETag() etag!: string',
    ])
  })
})
