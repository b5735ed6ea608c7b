import { Column } from 'typeorm'
import { onProperty } from './apply.js'
import { declareProperty } from './metadata.js'
import type { OutputOnlyOptions } from './output-only.js'

/** Set at every write (AIP-148). `filterable` lets filter and order_by name it. */
export const UpdateTime = ({ filterable = false }: OutputOnlyOptions = {}): PropertyDecorator =>
  onProperty('UpdateTime', (prototype, property) => {
    declareProperty(prototype, property, { role: 'updateTime', filterable })
    Column({ type: Date })(prototype, property)
  })
