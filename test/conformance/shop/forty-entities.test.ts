import { create, createFileRegistry, type DescMessage } from '@bufbuild/protobuf'
import {
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  FileDescriptorProtoSchema,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
} from '@bufbuild/protobuf/wkt'
import { expect } from 'chai'
import { type DataSource, getMetadataArgsStorage } from 'typeorm'
import { lineage } from '../../../decorators/entity-facts.js'
import { Resource } from '../../../decorators/index.js'
import { DeclarationError } from '../../../lib/errors.js'
import { TypeormRepository } from '../../../lib/persistence/sql/typeorm-repository.js'
import { type EntityClass, resourceModel } from '../../../lib/resource/resource-model.js'
import { snakeCase } from '../../../lib/text/snake-case.js'
import { databases, describeOn } from '../../support/databases/backends.js'
import { inAcme } from '../repository/subject.js'
import {
  Article,
  Attachment,
  Member,
  Organization,
  Poll,
  Product,
  Recipe,
  shop,
  Tag,
} from './forty-entities.js'

type Args = ReturnType<typeof getMetadataArgsStorage>['columns'][number]

const classes: readonly EntityClass<object>[] = shop

const columnsOf = (entity: EntityClass<object>): readonly Args[] => {
  const all = new Set<unknown>(lineage(entity))
  return getMetadataArgsStorage().columns.filter(({ target }) => all.has(target))
}

const INTEGERS: ReadonlyMap<unknown, Type> = new Map([
  ['bigint', Type.INT64],
  ['real', Type.FLOAT],
  ['double precision', Type.DOUBLE],
])

interface Shown {
  readonly type: Type
  readonly typeName?: string
  readonly isList?: true
}

const TIME: Shown = { type: Type.MESSAGE, typeName: '.google.protobuf.Timestamp' }
const JSON_VALUE: Shown = { type: Type.MESSAGE, typeName: '.google.protobuf.Value' }

/** The field that shows a column; undefined for a column that no field can show. */
function shownAs(args: Args): Shown | undefined {
  const { array, select, transformer, type } = args.options
  const { mode, propertyName, target } = args
  if (mode !== 'regular' || select === false) return undefined
  if (array === true && (type === 'int' || type === 'text'))
    return { type: type === 'int' ? Type.INT32 : Type.STRING, isList: true }
  if (array === true) return undefined
  if (/^(?:json|jsonb|simple-json)$/.test(String(type))) return JSON_VALUE
  if (type === 'simple-array') return { type: Type.STRING, isList: true }
  if (/^(?:simple-)?enum$/.test(String(type)))
    return { type: Type.ENUM, typeName: `.shop.v1.${enumName(args)}` }
  if (type === 'decimal') return { type: Type.STRING }
  if (/^(?:time|interval)$/.test(String(type))) return undefined
  const { prototype } = target as { readonly prototype: object }
  const design: unknown = Reflect.getMetadata('design:type', prototype, propertyName)
  if (design === Boolean) return { type: Type.BOOL }
  if (design === Date) return TIME
  const isNumber = design === Number || type === 'bigint'
  const number = (transformer === undefined ? INTEGERS.get(type) : undefined) ?? Type.INT32
  return { type: isNumber ? number : Type.STRING }
}

const enumName = ({ propertyName, target }: Args): string =>
  `${(target as { readonly name: string }).name}_${propertyName}`

/** An enum of the message with a value for each label of a column. */
function enumOf(args: Args) {
  const name = enumName(args)
  const labels = Object.values(args.options.enum ?? {}) as string[]
  return {
    name,
    value: ['unspecified', ...labels].map((label, number) => ({
      name: `${snakeCase(name)}_${label}`.toUpperCase(),
      number,
    })),
  }
}

/** A message with a field for each column that it can show. */
function messageOf(entity: EntityClass<object>): DescMessage {
  const field = columnsOf(entity).flatMap((args, at) => {
    const shownAsField = shownAs(args)
    if (shownAsField === undefined) return []
    const { isList, ...type } = shownAsField
    const isOptional = args.options.nullable === true && type.type !== Type.MESSAGE
    return {
      ...type,
      name: snakeCase(args.propertyName),
      number: at + 1,
      label: isList === true ? Label.REPEATED : Label.OPTIONAL,
      ...(isOptional && { proto3Optional: true }),
    }
  })
  const optional = field.filter((one) => 'proto3Optional' in one)
  const file = create(FileDescriptorProtoSchema, {
    name: `${entity.name}.proto`,
    package: 'shop.v1',
    syntax: 'proto3',
    dependency: ['google/protobuf/timestamp.proto', 'google/protobuf/struct.proto'],
    enumType: columnsOf(entity)
      .filter((args) => shownAs(args)?.type === Type.ENUM)
      .map(enumOf),
    messageType: [
      {
        name: entity.name,
        field: field.map((one) =>
          optional.includes(one) ? { ...one, oneofIndex: optional.indexOf(one) } : one,
        ),
        oneofDecl: optional.map(({ name }) => ({ name: `_${name}` })),
      },
    ],
  })
  const registry = createFileRegistry(file, (name) =>
    name.endsWith('struct.proto') ? file_google_protobuf_struct : file_google_protobuf_timestamp,
  )
  return registry.getMessage(`shop.v1.${entity.name}`) as DescMessage
}

const shown = classes.filter((entity) =>
  columnsOf(entity).every((args) => args.mode !== 'regular' || shownAs(args) !== undefined),
)
for (const entity of classes)
  Resource({ message: messageOf(entity), shared: true, naming: 'typeorm', existing: true })(entity)

const problemsOf = (entity: EntityClass<object>): readonly string[] => {
  try {
    resourceModel(entity)
    return []
  } catch (error) {
    return (error as DeclarationError).problems
  }
}

describe('forty entities of a shop', () => {
  it('start with @Resource() alone, or fail with the reason', () => {
    expect(classes).to.have.length(40)
    const refused = classes.flatMap((entity) => {
      const problems = problemsOf(entity)
      return problems.length === 0 ? [] : [[entity.name, problems]]
    })
    expect(Object.fromEntries(refused)).to.deep.equal({
      Stock: [
        'it must have exactly one key besides its tenant: declare it with @PrimaryColumn() id!: string (or name)',
      ],
    })
    expect(shown.filter((entity) => problemsOf(entity).length === 0).length).to.be.at.least(30)
  })
})

describeOn(
  'forty entities of a shop, whose tables TypeORM has made',
  databases.filter(({ name }) => name === 'postgres'),
  (backend) => {
    it('are read and written by repositories and by TypeORM', async () => {
      const startable = classes.filter((one) => problemsOf(one).length === 0)
      const opened = await backend.open(startable)
      const dataSource = opened.dataSource as DataSource
      const of = <E extends object>(entity: EntityClass<E>) => new TypeormRepository(dataSource, entity)
      try {
        await dataSource.synchronize()
        await inAcme(async () => {
          const refused: [string, readonly string[]][] = []
          for (const entity of startable) {
            const { problems } = await of(entity).startUpCheck()
            if (problems.length > 0)
              refused.push([entity.name, problems.map((one) => (typeof one === 'string' ? one : one.rule))])
            else expect((await of(entity).list({})).items).to.deep.equal([])
          }
          const padded = 'has the type bpchar, which treats different strings as equal'
          expect(Object.fromEntries(refused)).to.deep.equal({
            Currency: [`code ${padded}`],
            Country: [`currency_code ${padded}`],
          })
          const organization = await of(Organization).create({ slug: 'a' })
          expect(organization).to.include({ slug: 'a', seats: 0 })
          const given = { email: 'Ada@Shop', passwordHash: 'x', organizationId: organization.id }
          const member = await of(Member).create(given as never)
          expect(member).to.include({ email: 'ada@shop', passwordHash: 'x', revision: 1 })
          expect(resourceModel(Member).toMessage(member)).to.not.have.property('passwordHash')
          await of(Member).delete(member.id)
          expect((await of(Member).create(given as never)).revision).to.equal(1)
          const gone = await dataSource.getRepository(Member).findOneByOrFail({ email: 'ada@shop' })
          expect(gone.id).to.not.equal(member.id)
          const product = await of(Product).create({ sku: '1', origin: 'here' })
          expect(product).to.include({ state: 'draft', origin: 'here', revision: 1 })
          const attachment = await of(Attachment).create({ path: 'p', bytes: 5 } as never)
          expect(await of(Attachment).get(attachment.id)).to.include({ bytes: 5, url: '/files/p' })
          const recipe = await of(Recipe).create({ title: 'soup' } as never)
          expect(recipe.steps).to.deep.equal([])
          await of(Recipe).update(recipe.id, { steps: ['cut', 'boil'] } as never, ['steps'] as never)
          const recipes = dataSource.getRepository(Recipe)
          const cooked = await recipes.findOneByOrFail({ id: recipe.id })
          expect(cooked.steps).to.deep.equal(['cut', 'boil'])
          await recipes.save(Object.assign(cooked, { steps: ['boil'] }))
          const filter = 'steps:"boil" AND NOT steps:"cut"'
          expect((await of(Recipe).list({ filter })).items.map(({ id }) => id)).to.deep.equal([recipe.id])
          expect((await of(Poll).create({ question: 'q', votes: [1, 2] } as never)).votes).to.deep.equal([
            1, 2,
          ])
          const tag = await of(Tag).create({ title: 't' })
          const article = await of(Article).create({ title: 'one' } as never)
          const articles = dataSource.getRepository(Article)
          await articles.save(
            Object.assign(await articles.findOneByOrFail({ id: article.id }), { tags: [tag] }),
          )
          await of(Article).update(article.id, { title: 'two' } as never, ['title'] as never)
          const [read] = await articles.find({ relations: { tags: true } })
          expect([read?.title, read?.tags?.map(({ title }) => title)]).to.deep.equal(['two', ['t']])
        })
      } finally {
        await opened.close()
      }
    })
  },
)
