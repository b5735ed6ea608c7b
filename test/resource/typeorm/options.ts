import { Column, Entity, ManyToOne, Unique } from 'typeorm'
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
  /** The declaration as the reference shows it; undefined for what is only a mistake. */
  readonly code?: string
  readonly problems: readonly string[]
}

type Options = readonly (readonly [option: string, value: unknown, instead: string, as?: string])[]

/** What can be said of each property. */
export const OR_INTERNAL = '; or add @Internal(), so that Ashlar does not manage it'

const CODE_POINTS = 'strings are compared and sorted by code point on every database'
const PLACES = 'store places as numbers or in "simple-json"'
const TO_WRITE = 'compute the value before you write it, or declare it with @Computed()'
const COMPUTED = `${TO_WRITE}; or declare the property @OutputOnly({ generated: true }) if the table computes it`

const COLUMN: Options = [
  ['enum', ['a', 'b'], 'link a message with @Resource({ message }), whose enum is stored by its proto names'],
  ['enumName', 'letters', 'an enum of the message is stored by its proto names'],
  ['scale', 2, "only a decimal has it: write type: 'decimal'"],
  ['charset', 'latin1', CODE_POINTS],
  [
    'collation',
    'utf8mb4_general_ci',
    `${CODE_POINTS}; or declare @Resource({ existing: true }) if the table has another`,
  ],
  ['asExpression', 'lower(title)', COMPUTED],
  ['generatedType', 'STORED', COMPUTED],
  ['hstoreType', 'object', 'use @Tags()'],
  ['spatialFeatureType', 'Point', PLACES],
  ['srid', 4326, PLACES],
  ['query', () => 'SELECT 1', 'a column is stored, not computed'],
  ['utc', true, 'every time is UTC'],
  ['precision', 3, 'string has none'],
]

const ENTITY: Options = [['engine', 'MyISAM', "write engine: 'InnoDB', which transactions need"]]

const RELATION: Options = [['deferrable', 'INITIALLY DEFERRED', 'references are checked at every write']]

class Owner {}

/** Options that columns of some types have. */
const OF_A_TYPE: ReadonlySet<string> = new Set(['enum', 'enumName', 'scale', 'precision'])

const shownValue = (value: unknown): string =>
  typeof value === 'function' ? '() => sql' : JSON.stringify(value).replaceAll('"', "'")

/** Every option of a decorator that is refused. */
export const DECLARED_OPTIONS: readonly Row[] = [
  ...COLUMN.map(([option, value, instead, as = option]): Row => ({
    decorator: 'Column',
    option,
    replaces: 'title',
    what: typeof value === 'object' ? JSON.stringify(value) : String(value),
    ...(!OF_A_TYPE.has(option) && { code: `@Column({ ${option}: ${shownValue(value)} })` }),
    declare: (prototype) => Column({ type: String, [option]: value })(prototype, 'title'),
    problems: [
      `title: the column option ${as} is not supported: ${instead}${option === 'precision' ? '' : OR_INTERNAL}`,
    ],
  })),
  ...ENTITY.map(([option, value, instead]): Row => ({
    decorator: 'Entity',
    option,
    replaces: 'entity',
    code: `@Entity({ ${option}: ${shownValue(value)} })`,
    declare: (_, entity) => Entity('widgets', { [option]: value })(entity),
    problems: [`@Entity(): the option ${option} is not supported: ${instead}`],
  })),
  ...RELATION.map(([option, value, instead, as = option]): Row => ({
    decorator: 'ManyToOne',
    option,
    what: JSON.stringify(value),
    code: `@ManyToOne(() => Owner, { ${option}: ${shownValue(value)} })`,
    declare: (prototype) => ManyToOne(() => Owner, { [option]: value })(prototype, 'owner'),
    problems: [`owner: the relation option ${as} is not supported: ${instead}${OR_INTERNAL}`],
  })),
  {
    decorator: 'Unique',
    option: 'deferrable',
    code: "@Unique(['title'], { deferrable: 'INITIALLY DEFERRED' })",
    declare: (_, entity) => Unique(['title'], { deferrable: 'INITIALLY DEFERRED' })(entity),
    problems: [
      '@Unique() of title: the option deferrable is not supported: uniqueness is checked at every write',
    ],
  },
]
