import { Column, Entity, Index, ManyToOne, Unique } from 'typeorm'
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

/** What can be said of each property. */
export const OR_INTERNAL = '; or add @Internal(), which leaves it to TypeORM'

const CODE_POINTS = 'texts are compared and ordered by code point on every database'
const PLACES = 'places are kept as numbers or in "simple-json"'
const TO_WRITE = 'compute the value where it is written, or declare it with @Computed()'
const COMPUTED = `${TO_WRITE}; or declare the property @OutputOnly({ generated: true }) where the table computes it`
const IN_MIGRATION = 'write synchronize: false, which leaves the index to TypeORM, and make it in a migration'

const COLUMN: Options = [
  ['enum', ['a', 'b'], 'link a message with @Resource({ message }), whose enum is stored by its proto names'],
  ['enumName', 'letters', 'an enum of the message is stored by its proto names'],
  ['scale', 2, 'keep an exact amount as a bigint of its smallest unit'],
  ['charset', 'latin1', CODE_POINTS],
  [
    'collation',
    'utf8mb4_general_ci',
    `${CODE_POINTS}; or declare @Resource({ existing: true }), where the table has another`,
  ],
  ['asExpression', 'lower(title)', COMPUTED],
  ['generatedType', 'STORED', COMPUTED],
  ['generatedIdentity', 'ALWAYS', TO_WRITE],
  ['hstoreType', 'object', 'use @Tags()'],
  ['spatialFeatureType', 'Point', PLACES],
  ['srid', 4326, PLACES],
  ['query', () => 'SELECT 1', 'a column is stored, not computed'],
  ['utc', true, 'every time is UTC'],
  ['precision', 3, 'string has none'],
]

const ENTITY: Options = [['engine', 'MyISAM', "write engine: 'InnoDB', which transactions need"]]

const INDEX: Options = [
  ['spatial', true, IN_MIGRATION],
  ['fulltext', true, `use @Searchable(), or ${IN_MIGRATION}`],
  ['nullFiltered', true, IN_MIGRATION],
  ['parser', 'ngram', IN_MIGRATION],
  ['sparse', true, IN_MIGRATION],
  ['background', true, IN_MIGRATION],
  ['expireAfterSeconds', 9, 'use @Expirable()'],
]

const RELATION: Options = [['deferrable', 'INITIALLY DEFERRED', 'references are checked at every write']]

class Owner {}

/** Every option of a decorator that is refused. */
export const DECLARED_OPTIONS: readonly Row[] = [
  ...COLUMN.map(([option, value, instead, as = option]): Row => ({
    decorator: 'Column',
    option,
    replaces: 'title',
    what: typeof value === 'object' ? JSON.stringify(value) : String(value),
    declare: (prototype) => Column({ type: String, [option]: value })(prototype, 'title'),
    problems: [
      `title: the column option ${as} is not supported: ${instead}${option === 'precision' ? '' : OR_INTERNAL}`,
    ],
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
    problems: [`owner: the relation option ${as} is not supported: ${instead}${OR_INTERNAL}`],
  })),
  {
    decorator: 'Unique',
    option: 'deferrable',
    declare: (_, entity) => Unique(['title'], { deferrable: 'INITIALLY DEFERRED' })(entity),
    problems: [
      '@Unique() of title: the option deferrable is not supported: uniqueness is checked at every write',
    ],
  },
]
