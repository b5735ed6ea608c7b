import { ErrConflict } from '../../errors.js'
import { formatsOf } from '../../resource/kinds/uuid.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { RowCall } from './row-call.js'
import type { Rows, RowWrite } from './rows.js'

/** Whether a row may exist whose key is the same UUID in another format. */
export const mayHaveTwin = ({ key }: ResourceModel, { isKeyMade }: RowWrite): boolean =>
  isKeyMade !== true && key.formats !== undefined

/** Inserts a row. @throws ErrConflict if another format of its key is taken. */
export async function insertOnce<E, C extends RowCall>(
  rows: Pick<Rows<E, C>, 'batchGet' | 'insert'>,
  model: ResourceModel,
  call: C,
  write: RowWrite,
): Promise<E> {
  if (mayHaveTwin(model, write)) {
    const { key, tenant } = write.row
    // Of a key alone no two tenants have the same.
    const reach = { tenant: model.tenantInKey ? tenant : undefined }
    const stored = await rows.batchGet(call, formatsOf(key).slice(1), reach, { showDeleted: true })
    if (stored.length > 0) throw new ErrConflict()
  }
  return rows.insert(call, write)
}
