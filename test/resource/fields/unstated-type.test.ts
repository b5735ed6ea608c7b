import { expect } from 'chai'
import type { DescMessage } from '@bufbuild/protobuf'
import { FieldDescriptorProto_Type as Type } from '@bufbuild/protobuf/wkt'
import { Column, type ColumnOptions, Entity, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm'
import { Computed, Resource, TenantColumn } from '../../../decorators/index.js'
import { type EntityClass, resourceModel } from '../../../lib/resource/resource-model.js'
import { NoteService } from '../../support/gen/specimens_pb.js'
import { altered } from '../../support/grpc/altered.js'
import { problemsOf } from '../typeorm/declarations.js'

type Properties = Readonly<Record<string, readonly PropertyDecorator[]>>

/** A class as it is where the compiler emits no metadata: decorated by calls alone. */
function crate(properties: Properties, message?: DescMessage): EntityClass<object> {
  class Crate {}
  for (const [property, decorators] of Object.entries(properties))
    for (const decorate of [...decorators].reverse()) decorate(Crate.prototype, property)
  Entity('crates')(Crate)
  Resource({ ...(!('orgId' in properties) && { shared: true }), ...(message && { message }) })(Crate)
  return Crate
}

const column = (type: string, more: ColumnOptions = {}) => Column({ ...more, type } as ColumnOptions)
const typed = (type: unknown) => Reflect.metadata('design:type', type)
const KEY = { id: [PrimaryColumn({ type: String })] }

/** What stops the start, where the property has one of two types. */
const OPEN: readonly (readonly [
  what: string,
  first: unknown,
  second: unknown,
  property: string,
  Properties,
])[] = [
  ['a key of a bigint', BigInt, String, 'id', { id: [PrimaryColumn('bigint')] }],
  ['a key of an int', Number, String, 'id', { id: [PrimaryColumn('int')] }],
  ['a number that the database mints', Number, String, 'id', { id: [PrimaryGeneratedColumn()] }],
  ['a bigint that it mints', BigInt, String, 'id', { id: [PrimaryGeneratedColumn({ type: 'bigint' })] }],
  ['the tenant', BigInt, String, 'orgId', { ...KEY, orgId: [TenantColumn(), column('bigint')] }],
  ['a bigint', BigInt, undefined, 'size', { ...KEY, size: [column('bigint')] }],
  ['a tinyint', Number, Boolean, 'isOpen', { ...KEY, isOpen: [column('tinyint')] }],
]

describe('a property whose type nothing says', () => {
  for (const [what, first, second, property, properties] of OPEN)
    it(`stops the start where it is ${what}, until its type is written`, () => {
      const [problem = '', ...others] = problemsOf(crate(properties))
      expect(others).to.deep.equal([])
      expect(problem).to.match(new RegExp(`^${property}: it is unknown whether it is a `))
      for (const type of [first, second])
        if (type !== undefined)
          expect(
            problemsOf(crate({ ...properties, [property]: [typed(type), ...(properties[property] ?? [])] })),
          ).to.deep.equal([])
    })

  it('is named with its types and what to write', () => {
    expect(problemsOf(crate({ id: [PrimaryColumn('bigint')] }))).to.deep.equal([
      "id: it is unknown whether it is a bigint or a string, because its class was compiled without decorator metadata: write @Reflect.metadata('design:type', BigInt) or the same with String above the property, or compile with emitDecoratorMetadata",
    ])
  })

  it('stops the start where TypeScript reports no class of a key', () => {
    const [problem, ...others] = problemsOf(crate({ id: [typed(Object), PrimaryColumn('bigint')] }))
    expect(problem).to.match(/^id: it is unknown .* TypeScript reports its type as Object: write @Reflect/)
    expect(others).to.deep.equal([])
    expect(problemsOf(crate({ ...KEY, size: [typed(Object), column('bigint')] }))).to.deep.equal([])
  })

  it('is of a class that @Column() names', () => {
    expect(problemsOf(crate({ id: [PrimaryColumn({ type: Number })] }))).to.deep.equal([])
    const { file } = altered(NoteService, ({ message }) => {
      for (const field of message('Note').field) if (field.name === 'stars') field.type = Type.INT64
    })
    const note = file.messages.find(({ name }) => name === 'Note')
    const key = { name: KEY.id, text: [Column({ type: String })] }
    expect(problemsOf(crate({ ...key, stars: [Column({ type: Number })] }, note))).to.deep.equal([])
    expect(problemsOf(crate({ ...key, stars: [Column({ type: Boolean })] }, note))).to.deep.equal([
      'stars is int64 in the message: declare it as bigint, not Boolean',
    ])
  })

  it('is a number of an enum, whose names the text column holds', () => {
    const { file } = altered(NoteService, ({ message }) => {
      for (const field of message('Note').field)
        if (field.name === 'stars')
          Object.assign(field, { type: Type.ENUM, typeName: '.specimens.v1.Specimen.Phase' })
    })
    const note = file.messages.find(({ name }) => name === 'Note')
    const properties = { name: KEY.id, text: [Column({ type: String })] }
    const stars = Column({ type: String })
    expect(problemsOf(crate({ ...properties, stars: [stars] }, note))).to.deep.equal([])
    expect(problemsOf(crate({ ...properties, stars: [typed(Number), stars] }, note))).to.deep.equal([])
    const [problem] = problemsOf(crate({ ...properties, stars: [typed(String), stars] }, note))
    expect(problem).to.contain('stars is enum')
  })

  it('has the values that its written type says', () => {
    for (const [type, key] of [
      [BigInt, 7n],
      [String, '7'],
    ] as const) {
      const model = resourceModel(crate({ id: [typed(type), PrimaryColumn('bigint')] }))
      expect(model.keys.keyOf('7')).to.equal(key)
    }
  })

  it('stops the start where it is computed and in no message', () => {
    const [problem, ...others] = problemsOf(crate({ ...KEY, total: [Computed(() => 1)] }))
    expect(problem).to.match(/^total is @Computed\(\), but its type is unknown/)
    expect(others).to.deep.equal([])
    expect(problemsOf(crate({ ...KEY, total: [typed(Number), Computed(() => 1)] }))).to.deep.equal([])
  })
})
