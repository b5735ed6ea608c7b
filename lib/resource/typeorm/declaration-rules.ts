import type {
  ColumnOptions,
  EntityOptions,
  getMetadataArgsStorage,
  JoinColumnOptions,
  RelationOptions,
} from 'typeorm'

/**
 * The declarations that TypeORM accepts for an entity, and their treatment: `carried out`, or the reason why
 * not and the alternative. Nothing is silently dropped: a declaration that no table here lists is rejected.
 * To lift a rejection, change its row.
 */

type Storage = ReturnType<typeof getMetadataArgsStorage>
/** The lists that TypeORM's decorators write to. */
export type Declared = {
  [K in keyof Storage]: Storage[K] extends readonly { readonly target?: unknown }[] ? K : never
}[keyof Storage]
export type ArgsOf<K extends Declared> = Storage[K][number]

/** The refusal of a declaration, with what to do; undefined when this one is carried out. */
export type DeclarationRule<K extends Declared> = (args: ArgsOf<K>, entity: string) => string | undefined

/** Why an option is not carried out, and what to do. */
export interface OptionRule {
  /** True if the value has an effect. By default every value has one except undefined, null and false. */
  readonly asks?: (value: unknown) => boolean
  readonly instead: string
  /** True if another option was meant. */
  readonly isMisspelt?: boolean
}

const CARRIED_OUT = 'carried out'
/** TypeORM's own manager has it, and a repository is the same with it and without it. */
const CHANGES_NOTHING: typeof CARRIED_OUT = CARRIED_OUT
export type Rule<R> = typeof CARRIED_OUT | R

/** The values with which an option is carried out. */
export interface OptionValues {
  readonly values: readonly unknown[]
}
export type AnyOptionRule = Rule<OptionRule | OptionValues>

const YES_OR_NO: OptionValues = { values: [true, false] }

const OWN_KEY = "keep the other resource's key in its own column, such as @Column() ownerId!: string"
const BY_MIGRATION =
  'add the constraint in a migration; or declare @Resource({ existing: true }) if the table has it'

/** By the TypeORM list that a decorator writes to. Lists that do not belong to an entity are not listed. */
export const DECLARATIONS: { readonly [K in Declared]: Rule<DeclarationRule<K>> } = {
  tables: ({ type }) =>
    type === 'view'
      ? '@ViewEntity() is not a table: a resource is written as well as read; use @Entity()'
      : type === 'entity-child'
        ? '@ChildEntity() is not supported: give each kind its own @Entity(), or use one entity with a column that distinguishes them'
        : undefined,
  inheritances: () =>
    '@TableInheritance() is not supported: give each kind its own @Entity(), or use one entity with a column that distinguishes them',
  discriminatorValues: CARRIED_OUT, // Only @ChildEntity() has one, and that is refused.
  trees: () => '@Tree() is not supported: keep the key of the parent in a column, such as parentId',
  columns: ({ mode, propertyName, options }) => columnMode(mode, propertyName, options),
  // The repository also generates a UUID that TypeORM generates.
  generations: ({ propertyName, strategy }) =>
    ['uuid', 'increment', 'identity'].includes(strategy)
      ? undefined // By generatedProblems and mintedProblems.
      : `${propertyName}: @Generated(${JSON.stringify(strategy)}) is not supported: write @PrimaryGeneratedColumn() ${propertyName}!: number, which the database generates, or @PrimaryGeneratedColumn('uuid') ${propertyName}!: string, which the repository generates`,
  embeddeds: ({ propertyName }) =>
    `${propertyName}: an embedded class, @Column(() => Class), is not supported: keep the object in one column with @Column('simple-json'), or its parts in separate columns`,
  relations: ({ propertyName, relationType, isTreeParent, isTreeChildren }) =>
    isTreeParent === true || isTreeChildren === true
      ? `${propertyName}: @${isTreeParent === true ? 'TreeParent' : 'TreeChildren'}() is not supported: keep the key of the parent in a column, such as parentId`
      : relationType === 'many-to-many'
        ? `${propertyName}: @ManyToMany() is not supported: write the link as an entity of its own, with a @ManyToOne() to each side`
        : undefined, // By declaredRelations and RELATION_OPTIONS.
  joinColumns: CARRIED_OUT, // By declaredRelations.
  joinTables: ({ propertyName }) =>
    `${propertyName}: @JoinTable() is not supported: write the link as an entity of its own`,
  relationIds: ({ propertyName }) => `${propertyName}: @RelationId() is not supported: ${OWN_KEY}`,
  foreignKeys: ({ propertyName }) =>
    `${propertyName === undefined ? '' : `${propertyName}: `}@ForeignKey() is not supported: ${BY_MIGRATION}`,
  checks: ({ expression }) =>
    `@Check(${JSON.stringify(expression)}) is not supported: check the value before you write it, or ${BY_MIGRATION}`,
  exclusions: ({ expression }) =>
    `@Exclusion(${JSON.stringify(expression)}) is not supported: ${BY_MIGRATION}`,
  entityListeners: CARRIED_OUT, // By listenerProblems.
  indices: CARRIED_OUT, // By INDEX_OPTIONS.
  uniques: CARRIED_OUT, // By UNIQUE_OPTIONS.
  entitySubscribers: CARRIED_OUT, // They belong to an entity only by listenTo(): the DataSource that has them is checked.
  namingStrategies: CARRIED_OUT,
  transactionEntityManagers: CARRIED_OUT,
  transactionRepositories: CARRIED_OUT,
}

/** Declarations that another application's table has and enforces by itself. */
export const DECLARATIONS_OF_EXISTING: ReadonlySet<string> = new Set<Declared>([
  'checks',
  'exclusions',
  'foreignKeys',
])

type Mode = ArgsOf<'columns'>['mode']

/** By the decorator that made a column. */
const MODES: Readonly<Record<Mode, Rule<string>>> = {
  regular: CARRIED_OUT,
  createDate: 'it is declared as something else besides @CreateDateColumn(): keep one of them',
  updateDate: 'it is declared as something else besides @UpdateDateColumn(): keep one of them',
  deleteDate: 'it is declared as something else besides @DeleteDateColumn(): keep one of them',
  version: 'it is declared as something else besides @VersionColumn(): keep one of them',
  objectId: 'use @PrimaryColumn() instead of @ObjectIdColumn(), which is for MongoDB',
  treeLevel: '@TreeLevelColumn() is not supported: keep the level in a column that you write',
  treeChildrenCount: 'a count of children is not supported: keep it in a column that you write',
  virtual: 'a virtual column cannot be stored',
  'virtual-property':
    '@VirtualColumn() is never computed: compute the value in a class that extends repositoryOf(), or keep it in a @Column()',
  array: "a column of an array is not supported: use @Column('text', { array: true })",
}

function columnMode(mode: Mode, property: string, { type }: ColumnOptions): string | undefined {
  const rule = (MODES as Readonly<Record<string, string>>)[mode] ?? `the column mode ${mode} is unknown`
  if (rule !== CARRIED_OUT) return `${property}: ${rule}`
  // Every other decorator of a stored column finds a type or refuses by itself.
  return type === undefined ? `${property}: use @Column() instead of @ViewColumn()` : undefined
}

const TEXT_ORDER = 'strings are compared and sorted by code point on every database'
const SPATIAL = 'store places as numbers or in "simple-json"'
const WRITE_IT = 'compute the value before you write it, or declare it with @Computed()'

const COMPUTED = `${WRITE_IT}; or declare the property @OutputOnly({ generated: true }) if the table computes it`

/** The treatment of a generated column by a table. */
export const OPTIONS_OF_GENERATED: ReadonlySet<string> = new Set<keyof ColumnOptions>([
  'asExpression',
  'generatedType',
  'onUpdate',
  'insert',
  'update',
  'default',
])

/** Options that an existing table may have differently. */
export const OPTIONS_OF_EXISTING: ReadonlySet<string> = new Set<keyof ColumnOptions>(['collation'])

/** Options that an enum of a message accepts. Other fields of a message are checked with their kind. */
export const OPTIONS_OF_ENUMS: ReadonlySet<string> = new Set<keyof ColumnOptions>(['enum', 'enumName'])

/** For @Column() and @PrimaryColumn(), in addition to the checks of the field's type. */
export const COLUMN_OPTIONS: Readonly<Record<keyof ColumnOptions | 'generated' | 'width', AnyOptionRule>> = {
  type: CARRIED_OUT, // By the field's kind.
  name: CARRIED_OUT,
  length: CARRIED_OUT, // By the field's kind.
  nullable: YES_OR_NO,
  primary: YES_OR_NO,
  unique: YES_OR_NO,
  generated: CARRIED_OUT, // By `generations`.
  unsigned: CHANGES_NOTHING, // A message says whether a number has a sign.
  width: CHANGES_NOTHING, // MySQL shows numbers with it.
  precision: CARRIED_OUT, // By the field's kind.
  // By columnEffects and effectProblems.
  select: YES_OR_NO,
  insert: YES_OR_NO,
  update: YES_OR_NO,
  default: CARRIED_OUT,
  onUpdate: CARRIED_OUT,
  transformer: CARRIED_OUT,
  array: YES_OR_NO, // By the field's kind.
  enum: {
    instead: 'link a message with @Resource({ message }), whose enum is stored by its proto names',
  },
  enumName: { instead: 'an enum of the message is stored by its proto names' },
  comment: CHANGES_NOTHING,
  scale: { instead: "only a decimal has it: write type: 'decimal'" },
  charset: { instead: TEXT_ORDER },
  collation: {
    instead: `${TEXT_ORDER}; or declare @Resource({ existing: true }) if the table has another`,
  },
  primaryKeyConstraintName: CHANGES_NOTHING,
  foreignKeyConstraintName: CHANGES_NOTHING,
  asExpression: { instead: COMPUTED },
  generatedType: { instead: COMPUTED },
  generatedIdentity: CHANGES_NOTHING, // A key that the database generates is never sent.
  hstoreType: { instead: 'use @Tags()' },
  spatialFeatureType: { instead: SPATIAL },
  srid: { instead: SPATIAL },
  query: { instead: 'a column is stored, not computed' },
  utc: { instead: 'every time is UTC' },
}

/** For @Entity(), as TypeORM stores them. */
export const ENTITY_OPTIONS: Readonly<Record<keyof EntityOptions, AnyOptionRule>> = {
  name: CARRIED_OUT,
  schema: CARRIED_OUT,
  synchronize: YES_OR_NO,
  database: CARRIED_OUT,
  orderBy: CHANGES_NOTHING, // A list is ordered by order_by, and by its key,
  engine: {
    asks: (value) => typeof value === 'string' && value.toLowerCase() !== 'innodb',
    instead: "write engine: 'InnoDB', which transactions need",
  },
  withoutRowid: CHANGES_NOTHING,
  comment: CHANGES_NOTHING,
}

/** For @ManyToOne(), @OneToMany() and @OneToOne(). */
export const RELATION_OPTIONS: Readonly<Record<keyof RelationOptions, AnyOptionRule>> = {
  nullable: YES_OR_NO,
  onDelete: { values: ['RESTRICT', 'CASCADE', 'SET NULL', 'NO ACTION'] },
  cascade: CHANGES_NOTHING, // Each resource is written by its own repository.
  onUpdate: CHANGES_NOTHING, // A key never changes.
  deferrable: { instead: 'references are checked at every write' },
  createForeignKeyConstraints: YES_OR_NO, // A table of Ashlar's has the key anyway: see relationNotes.
  lazy: CHANGES_NOTHING, // A repository reads the relations that `with` names,
  eager: CHANGES_NOTHING,
  persistence: CHANGES_NOTHING,
  orphanedRowAction: CHANGES_NOTHING, // No list of related entities is ever saved.
}

/** For @JoinColumn(). */
export const JOIN_COLUMN_OPTIONS: Readonly<Record<keyof JoinColumnOptions, AnyOptionRule>> = {
  name: CARRIED_OUT,
  referencedColumnName: CARRIED_OUT, // By declaredRelations and relationGraph.
  foreignKeyConstraintName: CHANGES_NOTHING,
}

type OptionsOf<K extends Declared> = Exclude<keyof ArgsOf<K>, 'target' | 'columns'>

/** For @Index(), as TypeORM stores them; `name` is the first argument. */
export const INDEX_OPTIONS: Readonly<Record<OptionsOf<'indices'>, AnyOptionRule>> = {
  unique: YES_OR_NO,
  name: CARRIED_OUT,
  where: CARRIED_OUT,
  synchronize: YES_OR_NO, // Without it the index is made elsewhere, and left alone,
  spatial: YES_OR_NO,
  fulltext: YES_OR_NO,
  parser: CARRIED_OUT, // MySQL alone has it, as in TypeORM.
  nullFiltered: CHANGES_NOTHING, // Spanner alone has it.
  // MongoDB alone has these.
  sparse: CHANGES_NOTHING,
  background: CHANGES_NOTHING,
  expireAfterSeconds: CHANGES_NOTHING,
  concurrent: CHANGES_NOTHING, // A migration says how an index is made,
  type: CARRIED_OUT, // PostgreSQL alone has it, as in TypeORM.
}

/** For @Unique(), as TypeORM stores them; `name` is the first argument. */
export const UNIQUE_OPTIONS: Readonly<Record<OptionsOf<'uniques'>, AnyOptionRule>> = {
  name: CARRIED_OUT,
  deferrable: { instead: 'uniqueness is checked at every write' },
}
