import { onProperty } from './apply.js'
import { declareProperty } from './entity-facts.js'

/**
 * The column had another name before. `ashlar migrate diff` then adds the new column, keeps both the same by
 * triggers whichever of them is written, and copies the rows; `--contract` drops the old one. Drop the
 * decorator afterwards. Use it together with `@Column`.
 * @param column - the old name in the database.
 * @example
 * ```ts
 * import { RenamedFrom } from 'ashlar/decorators'
 * import { Column } from 'typeorm'
 *
 * class Task {
 *   @Column({ length: 100 }) @RenamedFrom('title') displayName!: string
 * }
 * ```
 */
export const RenamedFrom = (column: string): PropertyDecorator =>
  onProperty('RenamedFrom', [], (prototype, property) => {
    declareProperty(prototype, property, { renamedFrom: (column as string | undefined) ?? '' })
  })

/**
 * The field of the message that holds the property, where the two are called differently. All that clients
 * see has the name of the field: filters, orders, masks, violations and JSON. Entities, and the options of
 * repositories that take properties, have the property. Without a message it is the name that filters use.
 * @param name - as the .proto spells it.
 * @example
 * ```ts
 * import { CreateTime } from 'ashlar'
 * import { ProtoField } from 'ashlar/decorators'
 * import { Column } from 'typeorm'
 *
 * class Task {
 *   @ProtoField('create_time') @CreateTime() createdAt!: Date
 *   @ProtoField('display_name') @Column() title!: string
 * }
 * ```
 */
export const ProtoField = (name: string): PropertyDecorator =>
  onProperty('ProtoField', [], (prototype, property) => {
    declareProperty(prototype, property, { protoField: (name as string | undefined) ?? '' })
  })
