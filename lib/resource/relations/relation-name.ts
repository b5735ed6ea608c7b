import type { DescMessage } from '@bufbuild/protobuf'
import { snakeCase } from '../../text/snake-case.js'
import type { Relation } from './relation.js'

/**
 * What a filter calls a relation: as the field of the message that shows it, else the property in snake_case.
 */
export const relationName = (message: DescMessage | undefined, { property }: Relation): string =>
  message?.fields.find(({ localName }) => localName === property)?.name ?? snakeCase(property)
