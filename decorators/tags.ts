import { Column } from 'typeorm'
import { onProperty } from './apply.js'
import { declareProperty } from './entity-facts.js'

/**
 * Declares a `map<string, string>` that is stored in one JSON column. Filters name its entries as
 * `tags.<key>`.
 */
export const Tags: () => PropertyDecorator = (...given: readonly unknown[]) =>
  onProperty('Tags', given, (prototype, property) => {
    declareProperty(prototype, property, { role: 'tags' })
    Column({ type: 'simple-json' })(prototype, property)
  })
