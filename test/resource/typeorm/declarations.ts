import * as typeorm from 'typeorm'
import { Column, Entity, Index, PrimaryColumn, Unique } from 'typeorm'
import {
  ETag,
  Resource,
  type ResourceOptions,
  Secret,
  SoftDeletable,
  Tags,
} from '../../../decorators/index.js'
import { DeclarationError } from '../../../lib/errors.js'
import { type EntityClass, resourceModel } from '../../../lib/resource/resource-model.js'
import { DECLARED_OPTIONS, type Declare, OR_INTERNAL, type Row } from './options.js'

export type { Row } from './options.js'

/**
 * A resource `Widget` with an `id`, a `title` and one declaration more, made as the decorators of TypeScript
 * would.
 */
export function widgetWith(
  declare: Declare,
  {
    base = class {},
    replaces,
    ...options
  }: { readonly base?: new () => object } & Pick<Row, 'replaces'> & ResourceOptions = {},
): EntityClass<object> {
  class Widget extends base {}
  PrimaryColumn({ type: String })(Widget.prototype, 'id')
  if (replaces !== 'title') Column({ type: String })(Widget.prototype, 'title')
  declare(Widget.prototype, Widget)
  if (replaces !== 'entity') Entity('widgets')(Widget)
  Resource({ shared: true, ...options })(Widget)
  return Widget
}

export const problemsOf = (entity: EntityClass<object>): readonly string[] => {
  try {
    resourceModel(entity)
    return []
  } catch (error) {
    if (error instanceof DeclarationError) return error.problems
    throw error
  }
}

class Other {}
const other = () => Other

const OWN_KEY = "keep the other resource's key in its own column, such as @Column() ownerId!: string"
const KINDS = 'give each kind its own @Entity(), or use one entity with a column that distinguishes them'
const PARENT = 'keep the key of the parent in a column, such as parentId'
const LINK = 'write the link as an entity of its own'
const BY_MIGRATION =
  'add the constraint in a migration; or declare @Resource({ existing: true }) if the table has it'
const NEVER_CALLED = [
  ['BeforeSoftRemove', 'use @BeforeRemove()'],
  ['AfterSoftRemove', 'use @AfterRemove()'],
  ['BeforeRecover', 'use another hook'],
  ['AfterRecover', 'use another hook'],
] as const

const listeners: readonly Row[] = NEVER_CALLED.map(([decorator, instead]) => ({
  decorator,
  declare: (prototype) => typeorm[decorator]()(prototype, 'stamp'),
  problems: [
    `stamp: @${decorator}() is never called: the entity is permanently removed: write @SoftDeletable() above it, or ${instead}`,
  ],
}))

const generated = (property: string) =>
  `${property} is a number that the database generates, but not a key: add @Internal(), so that Ashlar does not manage it; a number that the database generates for a field is the key of its row`

const decorators: readonly Row[] = [
  {
    decorator: 'OneToOne',
    what: 'of neither side',
    declare: (prototype) => typeorm.OneToOne(other)(prototype, 'owner'),
    problems: [
      'owner: @OneToOne() without @JoinColumn() must name the property of the other side: write (other) => other.<property> as its second argument, or add @JoinColumn()',
    ],
  },
  {
    decorator: 'ManyToMany',
    code: '@ManyToMany(() => Pen)',
    declare: (prototype) => typeorm.ManyToMany(other)(prototype, 'labels'),
    problems: [
      `labels: @ManyToMany() is not supported: ${LINK}, with a @ManyToOne() to each side${OR_INTERNAL}`,
    ],
  },
  {
    decorator: 'JoinColumn',
    what: 'beside no relation',
    declare: (prototype) => typeorm.JoinColumn()(prototype, 'owner'),
    problems: ['owner: @JoinColumn() is not on a relation: add @ManyToOne() or @OneToOne()'],
  },
  {
    decorator: 'JoinTable',
    declare: (prototype) => typeorm.JoinTable()(prototype, 'labels'),
    problems: [`labels: @JoinTable() is not supported: ${LINK}${OR_INTERNAL}`],
  },
  {
    decorator: 'RelationId',
    code: "@RelationId('owner')",
    declare: (prototype) => typeorm.RelationId('owner')(prototype, 'ownerId'),
    problems: [`ownerId: @RelationId() is not supported: ${OWN_KEY}${OR_INTERNAL}`],
  },
  {
    decorator: 'ForeignKey',
    code: '@ForeignKey(() => Owner)',
    declare: (prototype) => typeorm.ForeignKey(other)(prototype, 'title'),
    problems: [`title: @ForeignKey() is not supported: ${BY_MIGRATION}${OR_INTERNAL}`],
  },
  {
    decorator: 'ForeignKey',
    what: 'on the class',
    declare: (_, entity) => typeorm.ForeignKey(other, ['title'], ['id'])(entity),
    problems: [`@ForeignKey() is not supported: ${BY_MIGRATION}`],
  },
  {
    decorator: 'Check',
    code: "@Check('length(title) > 1')",
    declare: (_, entity) => typeorm.Check('title_length', 'length(title) > 1')(entity),
    problems: [
      `@Check("length(title) > 1") is not supported: check the value before you write it, or ${BY_MIGRATION}`,
    ],
  },
  {
    decorator: 'Check',
    what: 'on a property',
    declare: (prototype) => typeorm.Check('length(title) > 1')(prototype, 'title' as never),
    problems: [
      `@Check("length(title) > 1") is not supported: check the value before you write it, or ${BY_MIGRATION}`,
    ],
  },
  {
    decorator: 'Exclusion',
    code: "@Exclusion('USING gist (title WITH =)')",
    declare: (_, entity) => typeorm.Exclusion('USING gist (title WITH =)')(entity),
    problems: [`@Exclusion("USING gist (title WITH =)") is not supported: ${BY_MIGRATION}`],
  },
  {
    decorator: 'Generated',
    declare: (prototype) => typeorm.Generated('increment')(prototype, 'serial'),
    problems: ['serial: @Generated() is not on a column: write @PrimaryGeneratedColumn() instead'],
  },
  {
    decorator: 'Generated',
    what: 'of a number that is not a key',
    declare: (prototype) => {
      Column({ type: 'int' })(prototype, 'serial')
      typeorm.Generated('increment')(prototype, 'serial')
    },
    problems: [generated('serial')],
  },
  {
    decorator: 'Generated',
    what: 'of a number whose key is a text',
    declare: (prototype) => typeorm.Generated('increment')(prototype, 'id'),
    problems: [
      "id is string, but a number that the database generates is an integer: write @PrimaryGeneratedColumn() id!: number, or @PrimaryGeneratedColumn('uuid') id!: string",
    ],
  },
  {
    decorator: 'Generated',
    what: 'by CockroachDB',
    code: "@Generated('rowid')",
    declare: (prototype) => typeorm.Generated('rowid')(prototype, 'id'),
    problems: [
      'id: @Generated("rowid") is not supported: write @PrimaryGeneratedColumn() id!: number, which the database generates, or @PrimaryGeneratedColumn(\'uuid\') id!: string, which the repository generates',
    ],
  },
  {
    decorator: 'Generated',
    what: 'of a UUID without a column',
    declare: (prototype) => typeorm.Generated('uuid')(prototype, 'serial'),
    problems: ["serial: @Generated() is not on a column: add @Column('uuid')"],
  },
  {
    decorator: 'Generated',
    what: 'of a UUID on a number',
    declare: (prototype) => {
      Column({ type: 'int' })(prototype, 'serial')
      typeorm.Generated('uuid')(prototype, 'serial')
    },
    problems: ['serial is int32, but a generated UUID is a string: declare it as one'],
  },
  {
    decorator: 'Generated',
    what: 'of a UUID in a short text',
    declare: (prototype) => {
      Column({ type: 'varchar', length: 20 })(prototype, 'serial')
      typeorm.Generated('uuid')(prototype, 'serial')
    },
    problems: ['serial has at most 20 characters, but a UUID has 36: make the column longer'],
  },

  {
    decorator: 'ObjectIdColumn',
    code: '@ObjectIdColumn()',
    declare: (prototype) => typeorm.ObjectIdColumn()(prototype, 'mongoId'),
    problems: ['mongoId: use @PrimaryColumn() instead of @ObjectIdColumn(), which is for MongoDB'],
  },
  {
    decorator: 'ViewColumn',
    code: '@ViewColumn()',
    declare: (prototype) => typeorm.ViewColumn()(prototype, 'total'),
    problems: [`total: use @Column() instead of @ViewColumn()${OR_INTERNAL}`],
  },
  {
    decorator: 'VirtualColumn',
    code: '@VirtualColumn({ query })',
    declare: (prototype) =>
      typeorm.VirtualColumn({ type: 'int', query: () => 'SELECT 1' })(prototype, 'total'),
    problems: [
      `total: @VirtualColumn() is never computed: compute the value in a class that extends repositoryOf(), or keep it in a @Column()${OR_INTERNAL}`,
    ],
  },
  {
    decorator: 'TreeLevelColumn',
    code: '@TreeLevelColumn()',
    declare: (prototype) => typeorm.TreeLevelColumn()(prototype, 'level'),
    problems: [
      `level: @TreeLevelColumn() is not supported: keep the level in a column that you write${OR_INTERNAL}`,
    ],
  },
  {
    decorator: 'Tree',
    code: "@Tree('materialized-path')",
    declare: (_, entity) => typeorm.Tree('materialized-path')(entity),
    problems: [`@Tree() is not supported: ${PARENT}`],
  },
  {
    decorator: 'TreeParent',
    code: '@TreeParent()',
    declare: (prototype) => typeorm.TreeParent()(prototype, 'parent'),
    problems: [`parent: @TreeParent() is not supported: ${PARENT}${OR_INTERNAL}`],
  },
  {
    decorator: 'TreeChildren',
    code: '@TreeChildren()',
    declare: (prototype) => typeorm.TreeChildren()(prototype, 'children'),
    problems: [`children: @TreeChildren() is not supported: ${PARENT}${OR_INTERNAL}`],
  },
  {
    decorator: 'TableInheritance',
    code: "@TableInheritance({ column: 'kind' })",
    declare: (_, entity) => typeorm.TableInheritance({ column: { type: String, name: 'kind' } })(entity),
    problems: [`@TableInheritance() is not supported: ${KINDS}`],
  },
  {
    decorator: 'TableInheritance',
    what: 'without a discriminator',
    declare: (_, entity) => typeorm.TableInheritance()(entity),
    problems: [`@TableInheritance() is not supported: ${KINDS}`],
  },
  {
    decorator: 'ChildEntity',
    replaces: 'entity',
    code: "@ChildEntity('big')",
    declare: (_, entity) => typeorm.ChildEntity('big')(entity),
    problems: [`@ChildEntity() is not supported: ${KINDS}`],
  },
  {
    decorator: 'ViewEntity',
    replaces: 'entity',
    code: '@ViewEntity({ expression })',
    declare: (_, entity) => typeorm.ViewEntity({ expression: 'SELECT 1' })(entity),
    problems: ['@ViewEntity() is not a table: a resource is written as well as read; use @Entity()'],
  },
  {
    decorator: 'Column',
    what: 'with a generated value',
    replaces: 'title',
    declare: (prototype) => Column({ type: String, generated: 'increment' })(prototype, 'title'),
    problems: [generated('title')],
  },
  {
    decorator: 'Column',
    what: 'beside a decorator that makes the column itself',
    declare: (prototype) => {
      Column({ type: String, length: 10 })(prototype, 'etag')
      ETag()(prototype, 'etag')
    },
    problems: ['etag: two decorators create its column and differ in length: keep one of them'],
  },
  {
    decorator: 'BeforeRecover',
    what: 'on a method that is named by a symbol',
    declare: (prototype) => typeorm.BeforeRecover()(prototype, Symbol('stamp')),
    problems: [
      'Symbol(stamp): @BeforeRecover() is never called: the entity is permanently removed: write @SoftDeletable() above it, or use another hook',
    ],
  },
  {
    decorator: 'BeforeRemove',
    what: 'on an entity that is soft-deleted',
    declare: (prototype, entity) => {
      typeorm.BeforeRemove()(prototype, 'stamp')
      SoftDeletable()(entity)
    },
    problems: [
      'stamp: @BeforeRemove() is never called: a @SoftDeletable() entity is not removed: use @BeforeSoftRemove()',
    ],
  },
  {
    decorator: 'BeforeInsert',
    what: 'twice at one method',
    declare: (prototype) => {
      typeorm.BeforeInsert()(prototype, 'stamp')
      typeorm.BeforeInsert()(prototype, 'stamp')
    },
    problems: ['stamp: @BeforeInsert() is declared twice, and would be called twice: keep one of them'],
  },
  {
    decorator: 'Entity',
    what: 'twice',
    replaces: 'entity',
    declare: (_, entity) => {
      Entity('one')(entity)
      Entity('two')(entity)
    },
    problems: ['it is declared as an entity twice: keep one @Entity()'],
  },
  {
    decorator: 'Index',
    what: 'of a property that is not there',
    declare: (_, entity) => Index(['titel'])(entity),
    problems: ['@Index(): `titel` is not in Widget; did you mean `title`?'],
  },
  {
    decorator: 'Index',
    what: 'of properties that a function names wrong',
    declare: (_, entity) => Index((widget: Record<string, string>) => [widget['titel']])(entity),
    problems: ['@Index(): `titel` is not in Widget; did you mean `title`?'],
  },
  {
    decorator: 'Index',
    what: 'of nothing',
    declare: (_, entity) => Index()(entity),
    problems: ["@Index() names no property: name one, as in @Index(['name'])"],
  },
  {
    decorator: 'Index',
    what: 'of a property twice',
    declare: (_, entity) => Index(['title', 'title'])(entity),
    problems: ['@Index() names title twice: name it once'],
  },
  {
    decorator: 'Unique',
    what: 'of a map',
    declare: (prototype, entity) => {
      Tags()(prototype, 'labels')
      Unique(['labels'])(entity)
    },
    problems: [
      '@Unique(): labels contains a list, a map or a message, which no index compares: name another property',
    ],
  },
  {
    decorator: 'Unique',
    what: 'of the column of a secret',
    declare: (prototype, entity) => {
      Secret()(prototype, 'token')
      Unique(['token_hash'])(entity)
    },
    problems: ['@Unique(): token_hash is a column of token, whose indexes the framework creates: remove it'],
  },
  {
    decorator: 'Unique',
    what: 'with a name that PostgreSQL cuts',
    declare: (_, entity) => Unique(`u${'ä'.repeat(32)}`, ['title'])(entity),
    problems: [`the index name u${'ä'.repeat(32)} has more than 63 bytes: shorten it`],
  },
  {
    decorator: 'Index',
    what: 'with a name that MySQL keeps for itself',
    declare: (_, entity) => Index('Primary', ['title'])(entity),
    problems: ['the index name "Primary" is not valid on every database: choose another'],
  },
  {
    decorator: 'Index',
    what: 'with the name of another one',
    declare: (_, entity) => {
      Index('by_title', ['title'])(entity)
      Unique('by_title', ['title'])(entity)
    },
    problems: ['two indexes are named by_title: give each another name'],
  },
  {
    decorator: 'Unique',
    what: 'of a property that is not there',
    declare: (_, entity) => Unique(['titel', 'id'])(entity),
    problems: ['@Unique(): `titel` is not in Widget; did you mean `title`?'],
  },
]

/** Everything that TypeORM takes and that is refused, each once at least. */
export const REFUSED: readonly Row[] = [...listeners, ...decorators, ...DECLARED_OPTIONS]
