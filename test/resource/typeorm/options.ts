import { Column, Entity, Index, JoinColumn, ManyToOne, Unique } from 'typeorm'
import type { EntityClass } from '../../../lib/resource/resource-model.js'

/** Applies decorators to a class. */
export type Declare = (prototype: object, entity: EntityClass<object>) => void

/** One declaration that is refused, alone on an entity that is otherwise in order. */
export interface Row {
  readonly decorator: string
  readonly option?: string
  readonly what?: string
  /** What of the entity it declares instead of adding to it. */
  readonly replaces?: 'title' | 'entity' | undefined
  readonly declare: Declare
  readonly problems: readonly string[]
}

type Options = readonly (readonly [option: string, value: unknown, instead: string, as?: string])[]

const DROP_NAME = 'drop it: constraints are named by the framework'
const CODE_POINTS = 'drop it: texts are compared and ordered by code point on every database'
const PLACES = 'drop it: places are kept as numbers or in "simple-json"'
const OUTPUT_ONLY = 'drop it, and declare the property @OutputOnly() if clients must not write it'
const SQL_DEFAULT =
  'a function here is SQL, which differs between databases: give the value itself, or write @Default(() => value)'
const TO_WRITE = 'drop it, and write the value'
const COMPUTED = `${TO_WRITE}; or declare the property @OutputOnly({ generated: true }) where the table computes it`
const IN_MIGRATION = 'drop it, or make the index in a migration instead of here'

const COLUMN: Options = [
  [
    'select',
    false,
    'drop it, and keep the field out of the message, so that no response contains it',
    'select: false',
  ],
  ['insert', false, OUTPUT_ONLY, 'insert: false'],
  ['update', false, OUTPUT_ONLY, 'update: false'],
  ['default', () => 'now()', SQL_DEFAULT],
  [
    'onUpdate',
    'CURRENT_TIMESTAMP',
    'drop it: @UpdateTime() is stamped at every write; or write @UpdateTime({ generated: true }) where the table sets it',
  ],
  [
    'transformer',
    { to: (value: string) => value, from: (value: string) => value },
    'drop it, and change the value before it is written',
  ],
  ['array', true, 'use @Column("simple-json")'],
  [
    'enum',
    ['a', 'b'],
    'drop it: link a message with @Resource({ message }), whose enum is stored by its proto names',
  ],
  ['enumName', 'letters', 'drop it: an enum of the message is stored by its proto names'],
  ['comment', 'of people', 'drop it, or comment on the column in a migration'],
  ['scale', 2, 'drop it: keep an exact amount as a bigint of its smallest unit'],
  ['charset', 'latin1', CODE_POINTS],
  [
    'collation',
    'utf8mb4_general_ci',
    `${CODE_POINTS}; or declare @Resource({ existing: true }), where the table has another`,
  ],
  ['primaryKeyConstraintName', 'pk_widgets', DROP_NAME],
  ['foreignKeyConstraintName', 'fk_widgets', DROP_NAME],
  ['asExpression', 'lower(title)', COMPUTED],
  ['generatedType', 'STORED', COMPUTED],
  ['generatedIdentity', 'ALWAYS', TO_WRITE],
  ['hstoreType', 'object', 'use @Tags()'],
  ['spatialFeatureType', 'Point', PLACES],
  ['srid', 4326, PLACES],
  ['query', () => 'SELECT 1', 'drop it: a column is stored, not computed'],
  ['utc', true, 'drop it: every time is UTC'],
  ['unsigned', true, 'drop it, or make the field uint32 or uint64 in the message'],
  ['precision', 3, 'drop it'],
]

const ENTITY: Options = [
  ['orderBy', { title: 'ASC' }, 'drop it: a list is ordered by order_by, and by its key'],
  ['engine', 'MyISAM', 'drop it: transactions need InnoDB'],
  ['withoutRowid', true, 'drop it'],
  ['comment', 'of people', 'drop it, or comment on the table in a migration'],
]

const INDEX: Options = [
  ['where', 'size > 1', 'the index would hold for all rows; make it in a migration instead of here'],
  ['synchronize', false, 'drop the decorator: the index is made elsewhere', 'synchronize: false'],
  ['spatial', true, IN_MIGRATION],
  ['fulltext', true, 'drop it, and use @Searchable()'],
  ['nullFiltered', true, IN_MIGRATION],
  ['parser', 'ngram', IN_MIGRATION],
  ['sparse', true, IN_MIGRATION],
  ['background', true, IN_MIGRATION],
  ['concurrent', true, 'drop it: a migration says how an index is made'],
  ['expireAfterSeconds', 9, 'drop it, and use @Expirable()'],
  ['type', 'gin', IN_MIGRATION],
]

const WHERE_READ = 'drop it, and name the relation where you read'

const RELATION: Options = [
  ['cascade', true, 'drop it, and write each resource by its own repository'],
  ['cascade', ['insert'], 'drop it, and write each resource by its own repository'],
  ['onUpdate', 'CASCADE', 'drop it: a key never changes'],
  ['deferrable', 'INITIALLY DEFERRED', 'drop it: references are checked at every write'],
  [
    'createForeignKeyConstraints',
    false,
    'drop it: the constraint keeps a reference inside of its tenant',
    'createForeignKeyConstraints: false',
  ],
  ['lazy', true, WHERE_READ],
  ['eager', true, WHERE_READ],
  ['persistence', false, 'drop it: a repository writes one resource', 'persistence: false'],
  ['orphanedRowAction', 'delete', "drop it, and write onDelete: 'CASCADE' or 'SET NULL' on the other side"],
]

class Owner {}

/** Every option of a decorator that is refused. */
export const DECLARED_OPTIONS: readonly Row[] = [
  ...COLUMN.map(([option, value, instead, as = option]): Row => ({
    decorator: 'Column',
    option,
    replaces: 'title',
    what: typeof value === 'object' ? JSON.stringify(value) : String(value),
    declare: (prototype) => Column({ type: String, [option]: value })(prototype, 'title'),
    problems: [`title: the column option ${as} is not supported: ${instead}`],
  })),
  ...ENTITY.map(([option, value, instead]): Row => ({
    decorator: 'Entity',
    option,
    replaces: 'entity',
    declare: (_, entity) => Entity('widgets', { [option]: value })(entity),
    problems: [`@Entity(): the option ${option} is not supported: ${instead}`],
  })),
  ...INDEX.map(([option, value, instead, as = option]): Row => ({
    decorator: 'Index',
    option,
    declare: (_, entity) => Index(['title'], { [option]: value })(entity),
    problems: [`@Index() of title: the option ${as} is not supported: ${instead}`],
  })),
  ...RELATION.map(([option, value, instead, as = option]): Row => ({
    decorator: 'ManyToOne',
    option,
    what: JSON.stringify(value),
    declare: (prototype) => ManyToOne(() => Owner, { [option]: value })(prototype, 'owner'),
    problems: [`owner: the relation option ${as} is not supported: ${instead}`],
  })),
  {
    decorator: 'JoinColumn',
    option: 'foreignKeyConstraintName',
    declare: (prototype) => {
      ManyToOne(() => Owner)(prototype, 'owner')
      JoinColumn({ foreignKeyConstraintName: 'fk_owner' })(prototype, 'owner')
    },
    problems: [
      'owner: the option of @JoinColumn() foreignKeyConstraintName is not supported: drop it: constraints are named by the framework',
    ],
  },
  {
    decorator: 'Index',
    option: 'where',
    what: 'of a unique index',
    declare: (_, entity) => Index(['title'], { unique: true, where: 'size > 1' })(entity),
    problems: [
      '@Index() of title: the option where is not supported: the index would hold for all rows; make it in a migration instead of here',
    ],
  },
  {
    decorator: 'Unique',
    option: 'deferrable',
    declare: (_, entity) => Unique(['title'], { deferrable: 'INITIALLY DEFERRED' })(entity),
    problems: [
      '@Unique() of title: the option deferrable is not supported: drop it: uniqueness is checked at every write',
    ],
  },
]
