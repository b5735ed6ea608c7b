import { Column } from 'typeorm'
import { onProperty } from './apply.js'
import { declareProperty } from './metadata.js'
import type { OutputOnlyOptions } from './output-only.js'

/** Stamped once, at create (AIP-148). Filter and order_by may name it when `filterable` says so. */
export const CreateTime = ({ filterable = false }: OutputOnlyOptions = {}): PropertyDecorator =>
  onProperty('CreateTime', (prototype, property) => {
    declareProperty(prototype, property, { role: 'createTime', filterable })
    Column({ type: Date })(prototype, property)
  })
