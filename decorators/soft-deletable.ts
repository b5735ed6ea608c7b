import { onClass } from './apply.js'
import { declare } from './entity-facts.js'

/**
 * Makes a resource soft-deletable: Delete retains the row and sets `delete_time`, and Undelete clears it
 * (AIP-164).
 *
 * @example
 * ```ts
 * import { Resource, SoftDeletable, TenantScoped } from 'ashlar'
 * import { Column, Entity, PrimaryColumn } from 'typeorm'
 *
 * @Resource()
 * @Entity('folders')
 * @TenantScoped()
 * @SoftDeletable()
 * class Folder {
 *   @PrimaryColumn() id!: string
 *   @Column() label!: string
 *   deleteTime?: Date
 * }
 * ```
 */
export const SoftDeletable: () => ClassDecorator = (...given: readonly unknown[]) =>
  onClass('SoftDeletable', given, (entity) => {
    declare(entity, 'SoftDeletable', { softDeletable: true })
  })
