import { Column } from 'typeorm'
import { onProperty } from './apply.js'
import { declareProperty } from './metadata.js'

/** A token that changes with every write, so that If-Match can refuse a stale one (AIP-154). */
export const ETag = (): PropertyDecorator =>
  onProperty('ETag', (prototype, property) => {
    declareProperty(prototype, property, { role: 'etag' })
    Column({ type: String, length: 64 })(prototype, property)
  })
