import { snakeCase } from '../../lib/text/snake-case.js'
import { camelOf, pascalOf, singularOf, snakeOf } from '../generate/words.js'
import type { CatalogTable } from './database-catalog.js'

/** Names that modules of entities import or use, and globals. A class with such a name ends with `Entity`. */
const TAKEN: ReadonlySet<string> = new Set([
  ...[
    'Array',
    'Boolean',
    'Buffer',
    'Date',
    'Error',
    'Function',
    'Infinity',
    'JSON',
    'Map',
    'Math',
    'NaN',
    'Number',
  ],
  ...[
    'Object',
    'Promise',
    'Proxy',
    'Reflect',
    'RegExp',
    'Set',
    'String',
    'Symbol',
    'BigInt',
    'Intl',
    'Atomics',
  ],
  ...[
    'Check',
    'Column',
    'CreateDateColumn',
    'DeleteDateColumn',
    'Entity',
    'Exclusion',
    'ForeignKey',
    'Internal',
    'Index',
    'JoinColumn',
  ],
  ...[
    'ManyToOne',
    'OneToOne',
    'OutputOnly',
    'PrimaryColumn',
    'PrimaryGeneratedColumn',
    'Relation',
    'Resource',
  ],
  ...['TenantScoped', 'Unique', 'UpdateDateColumn', 'Event', 'Request', 'Response'],
  ...['DataSource', 'ServerBuilder'],
])

/** Names that an instance has without declaring them. */
const OF_OBJECTS: ReadonlySet<string> = new Set([
  ...Object.getOwnPropertyNames(Object.prototype),
  'prototype',
])

const word = (name: string): string =>
  snakeCase(name.normalize('NFKD').replaceAll(/[^\w\s-]/g, ''))
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')

/**
 * The name of the class of each table, by the table's id: `order_items` is `OrderItem`. Among tables with
 * one name the first keeps it; the others have their schema or their plural in the name.
 */
export function classNames(tables: readonly CatalogTable[]): ReadonlyMap<string, string> {
  // Names with one file clash, too, as XRay and Xray.
  const taken = new Set<string>()
  const names = new Map<string, string>()
  for (const { id, schema, name } of tables) {
    const plain = word(name)
    const candidates = [
      singularOf(plain),
      ...(schema === 'public' ? [] : [`${word(schema)}_${singularOf(plain)}`]),
      plain,
    ]
    const found =
      candidates.map(className).find((one) => !taken.has(snakeOf(one))) ?? numbered(className(plain), taken)
    taken.add(snakeOf(found))
    names.set(id, found)
  }
  return names
}

function className(snake: string): string {
  const pascal = pascalOf(/^[a-z]/.test(snake) ? snake : `table_${snake}`)
  return TAKEN.has(pascal) ? `${pascal}Entity` : pascal
}

function numbered(name: string, taken: ReadonlySet<string>): string {
  for (let number = 2; ; number++) if (!taken.has(snakeOf(`${name}${number}`))) return `${name}${number}`
}

/**
 * The property of each column, by its name: `created_at` is `createdAt`. A column that clashes with an
 * earlier one keeps its own name; undefined if that clashes, too, or is not a name of TypeScript.
 */
export function propertyNames(columns: readonly string[]): ReadonlyMap<string, string | undefined> {
  const taken = new Set<string>()
  const names = new Map<string, string | undefined>()
  for (const column of columns) {
    const found = [camelOf(word(column)), column].find(
      (one) =>
        /^[A-Za-z_$][\w$]*$/.test(one) &&
        ![one, column].some((name) => OF_OBJECTS.has(name)) &&
        !taken.has(snakeCase(one)),
    )
    if (found !== undefined) taken.add(snakeCase(found))
    names.set(column, found)
  }
  return names
}
