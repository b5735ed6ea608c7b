import { Column } from 'typeorm'
import { onProperty } from './apply.js'
import { declareProperty } from './metadata.js'
import type { OutputOnlyOptions } from './output-only.js'

/** Set once, at create (AIP-148). `filterable` lets filter and order_by name it. */
export const CreateTime = ({ filterable = false }: OutputOnlyOptions = {}): PropertyDecorator =>
  onProperty('CreateTime', (prototype, property) => {
    declareProperty(prototype, property, { role: 'createTime', filterable })
    Column({ type: Date })(prototype, property)
  })
