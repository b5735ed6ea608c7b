import type {
  ColumnOptions,
  EntityOptions,
  getMetadataArgsStorage,
  JoinColumnOptions,
  RelationOptions,
} from 'typeorm'

/**
 * Every TypeORM declaration for an entity and its support in Ashlar: `carried out`, or a sentence with the
 * reason and the alternative. A declaration without an entry is rejected rather than ignored. To support one,
 * change its entry.
 */

type Storage = ReturnType<typeof getMetadataArgsStorage>
/** The lists to which TypeORM's decorators write. */
export type Declared = {
  [K in keyof Storage]: Storage[K] extends readonly { readonly target?: unknown }[] ? K : never
}[keyof Storage]
export type ArgsOf<K extends Declared> = Storage[K][number]

/** Returns the reason why a declaration is rejected, with an alternative; undefined if it is supported. */
export type DeclarationRule<K extends Declared> = (args: ArgsOf<K>, entity: string) => string | undefined

/** An unsupported option and its alternative. */
export interface OptionRule {
  /**
   * Returns true if the value has an effect. By default, every value except undefined, null and false has
   * one.
   */
  readonly asks?: (value: unknown) => boolean
  readonly instead: string
  /** True if the name is probably a misspelling of another option. */
  readonly isMisspelt?: boolean
}

const CARRIED_OUT = 'carried out'
/** For options that affect only TypeORM's own manager. A repository behaves the same without them. */
const CHANGES_NOTHING: typeof CARRIED_OUT = CARRIED_OUT
export type Rule<R> = typeof CARRIED_OUT | R

/** The values for which an option is supported. */
export interface OptionValues {
  readonly values: readonly unknown[]
}
export type AnyOptionRule = Rule<OptionRule | OptionValues>

const YES_OR_NO: OptionValues = { values: [true, false] }

const OWN_KEY = "keep the other resource's key in its own column, such as @Column() ownerId!: string"
const BY_MIGRATION =
  'add the constraint in a migration; or declare @Resource({ existing: true }) if the table has it'

/**
 * The rules by the TypeORM list to which a decorator writes. Lists that do not belong to an entity are
 * omitted.
 */
export const DECLARATIONS: { readonly [K in Declared]: Rule<DeclarationRule<K>> } = {
  tables: ({ type }) =>
    type === 'view'
      ? '@ViewEntity() is not a table: a resource is written as well as read; use @Entity()'
      : type === 'entity-child'
        ? '@ChildEntity() is not supported: give each kind its own @Entity(), or use one entity with a column that distinguishes them'
        : undefined,
  inheritances: () =>
    '@TableInheritance() is not supported: give each kind its own @Entity(), or use one entity with a column that distinguishes them',
  discriminatorValues: CARRIED_OUT, // Used only by @ChildEntity(), which is rejected.
  trees: () => '@Tree() is not supported: keep the key of the parent in a column, such as parentId',
  columns: ({ mode, propertyName, options }) => columnMode(mode, propertyName, options),
  // The repository generates the UUIDs that TypeORM would generate.
  generations: ({ propertyName, strategy }) =>
    ['uuid', 'increment', 'identity'].includes(strategy)
      ? undefined // Checked by generatedProblems and mintedProblems.
      : `${propertyName}: @Generated(${JSON.stringify(strategy)}) is not supported: write @PrimaryGeneratedColumn() ${propertyName}!: number, which the database generates, or @PrimaryGeneratedColumn('uuid') ${propertyName}!: string, which the repository generates`,
  embeddeds: ({ propertyName }) =>
    `${propertyName}: an embedded class, @Column(() => Class), is not supported: keep the object in one column with @Column('simple-json'), or its parts in separate columns`,
  relations: ({ propertyName, relationType, isTreeParent, isTreeChildren }) =>
    isTreeParent === true || isTreeChildren === true
      ? `${propertyName}: @${isTreeParent === true ? 'TreeParent' : 'TreeChildren'}() is not supported: keep the key of the parent in a column, such as parentId`
      : relationType === 'many-to-many'
        ? `${propertyName}: @ManyToMany() is not supported: write the link as an entity of its own, with a @ManyToOne() to each side`
        : undefined, // Checked by declaredRelations and RELATION_OPTIONS.
  joinColumns: CARRIED_OUT, // Checked by declaredRelations.
  joinTables: ({ propertyName }) =>
    `${propertyName}: @JoinTable() is not supported: write the link as an entity of its own`,
  relationIds: ({ propertyName }) => `${propertyName}: @RelationId() is not supported: ${OWN_KEY}`,
  foreignKeys: ({ propertyName }) =>
    `${propertyName === undefined ? '' : `${propertyName}: `}@ForeignKey() is not supported: ${BY_MIGRATION}`,
  checks: ({ expression }) =>
    `@Check(${JSON.stringify(expression)}) is not supported: check the value before you write it, or ${BY_MIGRATION}`,
  exclusions: ({ expression }) =>
    `@Exclusion(${JSON.stringify(expression)}) is not supported: ${BY_MIGRATION}`,
  entityListeners: CARRIED_OUT, // Checked by listenerProblems.
  indices: CARRIED_OUT, // Checked by INDEX_OPTIONS.
  uniques: CARRIED_OUT, // Checked by UNIQUE_OPTIONS.
  entitySubscribers: CARRIED_OUT, // A subscriber names its entity only in listenTo(), so its DataSource is checked.
  namingStrategies: CARRIED_OUT,
  transactionEntityManagers: CARRIED_OUT,
  transactionRepositories: CARRIED_OUT,
}

/** Declarations that another application's table enforces by itself. */
export const DECLARATIONS_OF_EXISTING: ReadonlySet<string> = new Set<Declared>([
  'checks',
  'exclusions',
  'foreignKeys',
])

type Mode = ArgsOf<'columns'>['mode']

/** The rules by the decorator that declares a column. */
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
  // Every other decorator of a stored column determines a type or reports its own problem.
  return type === undefined ? `${property}: use @Column() instead of @ViewColumn()` : undefined
}

const TEXT_ORDER = 'strings are compared and sorted by code point on every database'
const SPATIAL = 'store places as numbers or in "simple-json"'
const WRITE_IT = 'compute the value before you write it, or declare it with @Computed()'

const COMPUTED = `${WRITE_IT}; or declare the property @OutputOnly({ generated: true }) if the table computes it`

/** Options of generated columns. */
export const OPTIONS_OF_GENERATED: ReadonlySet<string> = new Set<keyof ColumnOptions>([
  'asExpression',
  'generatedType',
  'onUpdate',
  'insert',
  'update',
  'default',
])

/** Options with which an existing table may differ. */
export const OPTIONS_OF_EXISTING: ReadonlySet<string> = new Set<keyof ColumnOptions>(['collation'])

/** Options that a message's enum accepts. Other message fields are checked with their kind. */
export const OPTIONS_OF_ENUMS: ReadonlySet<string> = new Set<keyof ColumnOptions>(['enum', 'enumName'])

/** For @Column() and @PrimaryColumn(), in addition to the checks of the field's type. */
export const COLUMN_OPTIONS: Readonly<Record<keyof ColumnOptions | 'generated' | 'width', AnyOptionRule>> = {
  type: CARRIED_OUT, // Checked by the field's kind.
  name: CARRIED_OUT,
  length: CARRIED_OUT, // Checked by the field's kind.
  nullable: YES_OR_NO,
  primary: YES_OR_NO,
  unique: YES_OR_NO,
  generated: CARRIED_OUT, // Checked by `generations`.
  unsigned: CHANGES_NOTHING, // The message determines the sign.
  width: CHANGES_NOTHING, // Only affects how MySQL displays numbers.
  precision: CARRIED_OUT, // Checked by the field's kind.
  // Checked by columnEffects and effectProblems.
  select: YES_OR_NO,
  insert: YES_OR_NO,
  update: YES_OR_NO,
  default: CARRIED_OUT,
  onUpdate: CARRIED_OUT,
  transformer: CARRIED_OUT,
  array: YES_OR_NO, // Checked by the field's kind.
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
  generatedIdentity: CHANGES_NOTHING, // The repository never sends a key that the database generates.
  hstoreType: { instead: 'use @Tags()' },
  spatialFeatureType: { instead: SPATIAL },
  srid: { instead: SPATIAL },
  query: { instead: 'a column is stored, not computed' },
  utc: { instead: 'every time is UTC' },
}

/** For @Entity(), in TypeORM's metadata. */
export const ENTITY_OPTIONS: Readonly<Record<keyof EntityOptions, AnyOptionRule>> = {
  name: CARRIED_OUT,
  schema: CARRIED_OUT,
  synchronize: YES_OR_NO,
  database: CARRIED_OUT,
  orderBy: CHANGES_NOTHING, // A list is always sorted by order_by and by its key.
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
  createForeignKeyConstraints: YES_OR_NO, // Ashlar's own tables have the key anyway: see relationNotes.
  lazy: CHANGES_NOTHING, // A repository reads only the relations named in `with`.
  eager: CHANGES_NOTHING,
  persistence: CHANGES_NOTHING,
  orphanedRowAction: CHANGES_NOTHING, // Lists of related entities are never saved.
}

/** For @JoinColumn(). */
export const JOIN_COLUMN_OPTIONS: Readonly<Record<keyof JoinColumnOptions, AnyOptionRule>> = {
  name: CARRIED_OUT,
  referencedColumnName: CARRIED_OUT, // Checked by declaredRelations and relationGraph.
  foreignKeyConstraintName: CHANGES_NOTHING,
}

type OptionsOf<K extends Declared> = Exclude<keyof ArgsOf<K>, 'target' | 'columns'>

/** For @Index(), in TypeORM's metadata. `name` is the first argument. */
export const INDEX_OPTIONS: Readonly<Record<OptionsOf<'indices'>, AnyOptionRule>> = {
  unique: YES_OR_NO,
  name: CARRIED_OUT,
  where: CARRIED_OUT,
  synchronize: YES_OR_NO, // If false, the index is created elsewhere and not changed.
  spatial: YES_OR_NO,
  fulltext: YES_OR_NO,
  parser: CARRIED_OUT, // Only MySQL supports it, as in TypeORM.
  nullFiltered: CHANGES_NOTHING, // Only Spanner supports it.
  // Only MongoDB supports these.
  sparse: CHANGES_NOTHING,
  background: CHANGES_NOTHING,
  expireAfterSeconds: CHANGES_NOTHING,
  concurrent: CHANGES_NOTHING, // A migration determines how an index is created.
  type: CARRIED_OUT, // Only PostgreSQL supports it, as in TypeORM.
}

/** For @Unique(), in TypeORM's metadata. `name` is the first argument. */
export const UNIQUE_OPTIONS: Readonly<Record<OptionsOf<'uniques'>, AnyOptionRule>> = {
  name: CARRIED_OUT,
  deferrable: { instead: 'uniqueness is checked at every write' },
}
