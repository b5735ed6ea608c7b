import { Failure } from '../errors/failure.js'
import { camelOf, pascalOf, pluralOf, snakeOf } from './words.js'

/** The forms of a resource's name. */
export interface ResourceNames {
  /** For messages and entities, such as `LineItem`. */
  readonly type: string
  /** For example `LineItems`. */
  readonly types: string
  /** For fields, rules, pattern variables and the .proto file, such as `line_item`. */
  readonly snake: string
  /** For the table and the field of a List, such as `line_items`. */
  readonly snakes: string
  /** For example `lineItem`. */
  readonly camel: string
  /** For paths and resource names (AIP-122), such as `lineItems`. */
  readonly camels: string
  /** For files, such as `line-item`. */
  readonly file: string
  /** For the folder, such as `line-items`. */
  readonly folder: string
}

/**
 * Returns the forms of a name.
 * @throws {Failure} for a name that is not in PascalCase.
 */
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

/** Names that the files of an entity and its module import. */
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
