import { onClass } from './apply.js'
import { declare } from './metadata.js'

/** Delete keeps the row and stamps `delete_time`; Undelete brings it back (AIP-164). */
export const SoftDeletable = (): ClassDecorator =>
  onClass('SoftDeletable', (entity) => {
    declare(entity, 'SoftDeletable', { softDeletable: true })
  })
