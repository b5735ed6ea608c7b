import { onProperty } from './apply.js'
import { declareProperty } from './entity-facts.js'

/**
 * Declares the old name of a renamed column. `ashlar migrate diff` then adds the new column, keeps both
 * columns equal with triggers, and copies the rows. `--contract` drops the old column, after which the
 * decorator can be removed. Use it together with `@Column`.
 *
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
 * Declares the message's field of a property with a different name. Everything that clients see uses the
 * field's name: filters, sort orders, masks, violations and JSON. Entities, and options of repositories that
 * take properties, use the property. Without a message it is the name for filters.
 *
 * @param name - the field's name as in the .proto.
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

/**
 * Declares the labels that a column stores for values of the message's enum. Required for a string column.
 * Also required for a column with the option `enum` if labels differ from names by more than the enum's
 * prefix, case, hyphens, underscores and spaces.
 *
 * @param labels - the labels by the names of the .proto, or a TypeScript string enum whose members have
 *   these names.
 * @example
 * ```ts
 * import { EnumLabels } from 'ashlar/decorators'
 * import { Column } from 'typeorm'
 *
 * enum Phase {
 *   Active = 'active',
 *   Done = 'finished',
 * }
 *
 * class Task {
 *   @EnumLabels({ PHASE_CLOSED: 'finished' }) @Column({ type: 'enum', enum: Phase }) phase!: Phase
 * }
 * ```
 */
export const EnumLabels = (labels: Readonly<Record<string, string>>): PropertyDecorator =>
  onProperty('EnumLabels', [], (prototype, property) => {
    declareProperty(prototype, property, {
      enumLabels: (labels as typeof labels | undefined) ?? {},
    })
  })

/**
 * Excludes a property from Ashlar. Only TypeORM reads and writes it, and no field, filter, mask, event or log
 * contains it. A new row gets the column's default, and an update leaves its value unchanged. It can be used
 * on columns and relations of every kind, including relations to entities that are not resources.
 *
 * @example
 * ```ts
 * import { Internal } from 'ashlar/decorators'
 * import { Column, JoinTable, ManyToMany } from 'typeorm'
 * import { Widget } from './widget.js'
 *
 * class Task {
 *   @Internal() @Column('decimal', { precision: 10, scale: 2, default: 0 }) cost!: string
 *   @Internal() @ManyToMany(() => Widget, { cascade: true }) @JoinTable() widgets?: Widget[]
 * }
 * ```
 */
export const Internal: () => PropertyDecorator = (...given: readonly unknown[]) =>
  onProperty('Internal', given, (prototype, property) => {
    declareProperty(prototype, property, { isInternal: true })
  })

/** Returns the properties that Ashlar does not manage. */
export const internalOf = (
  properties: ReadonlyMap<string, { readonly isInternal?: true }>,
): ReadonlySet<string> =>
  new Set([...properties].flatMap(([property, { isInternal }]) => (isInternal === true ? [property] : [])))
