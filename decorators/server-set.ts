import { Column } from 'typeorm'
import { onProperty } from './apply.js'
import { declareProperty } from './entity-facts.js'
import type { OutputOnlyOptions } from './output-only.js'

/**
 * Declares the etag, which changes with every write, so that If-Match can reject an outdated one (AIP-154).
 *
 * @example
 * ```ts
 * import { ETag, Resource, TenantScoped } from 'ashlar'
 * import { Column, Entity, PrimaryColumn } from 'typeorm'
 *
 * @Resource()
 * @Entity('notes')
 * @TenantScoped()
 * class Note {
 *   @PrimaryColumn() id!: string
 *   @Column() text!: string
 *   @ETag() etag!: string
 * }
 * ```
 */
export const ETag: () => PropertyDecorator = (...given: readonly unknown[]) =>
  onProperty('ETag', given, (prototype, property) => {
    declareProperty(prototype, property, { role: 'etag' })
    Column({ type: String, length: 64 })(prototype, property)
  })

/**
 * Declares the creation time (AIP-148). With `filterable`, filters and sort orders can name it. With
 * `generated`, the table sets it instead of the repository.
 *
 * @example
 * ```ts
 * import { CreateTime, Resource, TenantScoped } from 'ashlar'
 * import { Column, Entity, PrimaryColumn } from 'typeorm'
 *
 * @Resource()
 * @Entity('visits')
 * @TenantScoped()
 * class Visit {
 *   @PrimaryColumn() id!: string
 *   @Column() page!: string
 *   @CreateTime({ filterable: true }) createTime!: Date
 * }
 * ```
 */
export const CreateTime = (options: OutputOnlyOptions = {}): PropertyDecorator => time('createTime', options)

/**
 * Declares the time of the last write (AIP-148). With `filterable`, filters and sort orders can name it. With
 * `generated`, the table sets it instead of the repository.
 *
 * @example
 * ```ts
 * import { Resource, TenantScoped, UpdateTime } from 'ashlar'
 * import { Column, Entity, PrimaryColumn } from 'typeorm'
 *
 * @Resource()
 * @Entity('drafts')
 * @TenantScoped()
 * class Draft {
 *   @PrimaryColumn() id!: string
 *   @Column() text!: string
 *   @UpdateTime() updateTime!: Date
 * }
 * ```
 */
export const UpdateTime = (options: OutputOnlyOptions = {}): PropertyDecorator => time('updateTime', options)

const time = (role: 'createTime' | 'updateTime', options: OutputOnlyOptions): PropertyDecorator =>
  onProperty(role === 'createTime' ? 'CreateTime' : 'UpdateTime', [options], (prototype, property) => {
    declareProperty(prototype, property, {
      role,
      filterable: options.filterable === true,
      generated: options.generated === true,
    })
    Column({ type: Date })(prototype, property)
  })
