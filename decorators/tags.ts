import { Column } from 'typeorm'
import { onProperty } from './apply.js'
import { declareProperty } from './entity-facts.js'

/** A `map<string, string>` kept in one JSON column; filters name its entries as `tags.<key>`. */
export const Tags: () => PropertyDecorator = (...given: readonly unknown[]) =>
  onProperty('Tags', given, (prototype, property) => {
    declareProperty(prototype, property, { role: 'tags' })
    Column({ type: 'simple-json' })(prototype, property)
  })
