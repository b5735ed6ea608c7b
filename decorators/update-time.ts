import { Column } from 'typeorm'
import { onProperty } from './apply.js'
import { declareProperty } from './metadata.js'
import type { OutputOnlyOptions } from './output-only.js'

/** Stamped at every write (AIP-148). Filter and order_by may name it when `filterable` says so. */
export const UpdateTime = ({ filterable = false }: OutputOnlyOptions = {}): PropertyDecorator =>
  onProperty('UpdateTime', (prototype, property) => {
    declareProperty(prototype, property, { role: 'updateTime', filterable })
    Column({ type: Date })(prototype, property)
  })
