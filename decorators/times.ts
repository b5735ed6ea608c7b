import { Column } from 'typeorm'
import { onProperty } from './apply.js'
import { declareProperty } from './metadata.js'
import type { OutputOnlyOptions } from './output-only.js'

/** Set once, at create (AIP-148). `filterable` lets filter and order_by name it. */
export const CreateTime = (options: OutputOnlyOptions = {}): PropertyDecorator => time('createTime', options)

/** Set at every write (AIP-148). `filterable` lets filter and order_by name it. */
export const UpdateTime = (options: OutputOnlyOptions = {}): PropertyDecorator => time('updateTime', options)

const time = (
  role: 'createTime' | 'updateTime',
  { filterable = false }: OutputOnlyOptions,
): PropertyDecorator =>
  onProperty(role === 'createTime' ? 'CreateTime' : 'UpdateTime', (prototype, property) => {
    declareProperty(prototype, property, { role, filterable })
    Column({ type: Date })(prototype, property)
  })
