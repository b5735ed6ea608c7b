import { Failure } from '../errors/failure.js'
import { camelOf, pascalOf, pluralOf, snakeOf } from './words.js'

/** The names of a resource, as each place spells them. */
export interface ResourceNames {
  /** `LineItem`: message, entity. */
  readonly type: string
  /** `LineItems` */
  readonly types: string
  /** `line_item`: fields, rules, variables of patterns, the file of the .proto. */
  readonly snake: string
  /** `line_items`: the table, the field of a List. */
  readonly snakes: string
  /** `lineItem` */
  readonly camel: string
  /** `lineItems`: paths and resource names (AIP-122). */
  readonly camels: string
  /** `line-item`: files */
  readonly file: string
  /** `line-items`: the folder */
  readonly folder: string
}

/** @throws {Failure} for a name that is not in PascalCase. */
export function resourceNames(type: string, plural?: string): ResourceNames {
  if (!/^[A-Z][a-z0-9]+([A-Z][a-z0-9]+)*$/.test(type) || type.length > 60)
    throw new Failure(
      'input',
      `${type} is not a valid resource name: use PascalCase, such as Task or LineItem`,
    )
  if (plural !== undefined && !/^[A-Z][a-z0-9]+([A-Z][a-z0-9]+)*$/.test(plural))
    throw new Failure('input', `--plural ${plural}: write it like the name, such as People`)
  if (plural === type) throw new Failure('input', `--plural ${plural} equals the name: choose another`)
  if (TAKEN.has(type))
    throw new Failure('input', `${type} is a name that generated code uses: choose another`)
  const snake = snakeOf(type)
  const snakes = plural === undefined ? pluralOf(snake) : snakeOf(plural)
  return {
    type,
    types: pascalOf(snakes),
    snake,
    snakes,
    camel: camelOf(snake),
    camels: camelOf(snakes),
    file: snake.replaceAll('_', '-'),
    folder: snakes.replaceAll('_', '-'),
  }
}

/** Imported by the files of an entity and of its module. */
const TAKEN = new Set([
  'Column',
  'Date',
  'Entity',
  'Module',
  'Object',
  'Promise',
  'Resource',
  'String',
  'Timestamp',
  'Uint8Array',
])
