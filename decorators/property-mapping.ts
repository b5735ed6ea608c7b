import { onProperty } from './apply.js'
import { declareProperty } from './entity-facts.js'

/**
 * The column had another name before. `ashlar migrate diff` then adds the new column, keeps both the same by
 * triggers when either is written, and copies the rows; `--contract` drops the old one. Drop the
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

/**
 * The labels that the column has for values of the message's enum. A text column needs it. A column with the
 * option `enum` needs it for labels that are spelled otherwise than the names: the enum's prefix is left out,
 * and case, hyphens, underscores and spaces do not count.
 * @param labels - by the names of the .proto, or a string enum of TypeScript whose members are named so.
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
 * Leaves the property to TypeORM: nothing here reads or writes it, and no field, filter, mask, event or log
 * has it. A new row gets the default of its column, and an update leaves what is there. It stands beside
 * columns and relations of every kind, also to entities that are not resources.
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

/** The properties that are left to TypeORM. */
export const internalOf = (
  properties: ReadonlyMap<string, { readonly isInternal?: true }>,
): ReadonlySet<string> =>
  new Set([...properties].flatMap(([property, { isInternal }]) => (isInternal === true ? [property] : [])))
