import { declare } from './metadata.js'

/** Delete keeps the row and stamps `delete_time`; Undelete brings it back (AIP-164). */
export const SoftDeletable = (): ClassDecorator => (entity) => {
  declare(entity, 'SoftDeletable', { softDeletable: true })
}
