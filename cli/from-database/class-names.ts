import { snakeCase } from '../../lib/text/snake-case.js'
import { camelOf, pascalOf, singularOf, snakeOf } from '../generate/words.js'
import type { CatalogTable } from './database-catalog.js'

/**
 * Names that entity modules import or use, and globals. A class with such a name gets the suffix `Entity`.
 */
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

/** Names that every object has. */
const OF_OBJECTS: ReadonlySet<string> = new Set([
  ...Object.getOwnPropertyNames(Object.prototype),
  'prototype',
])

const word = (name: string): string =>
  snakeCase(name.normalize('NFKD').replaceAll(/[^\w\s-]/g, ''))
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')

/**
 * Returns the class name of each table by its id: `order_items` becomes `OrderItem`. The first of several
 * tables with the same name keeps it; the others use their schema or plural.
 */
export function classNames(tables: readonly CatalogTable[]): ReadonlyMap<string, string> {
  // Names that share a file also clash, such as XRay and Xray.
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
 * Returns the property of each column: `created_at` becomes `createdAt`. A column that clashes with an
 * earlier one keeps its own name. Undefined if that clashes as well, or is not a valid TypeScript name.
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
