import { createHash } from 'node:crypto'
import { RequestContext } from '../../../lib/context.js'
import { planList } from '../../../lib/persistence/contract/list-plan.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import { Specimen } from '../entities/specimen.js'

/** Returns the checksum that binds page tokens to a list. Anyone can compute it. */
const sumOf = (values: readonly unknown[], orderBy: string, tenant: string): string => {
  const model = resourceModel(Specimen)
  const { terms } = planList(model, { orderBy }, { context: new RequestContext(), tenant }, {})
  const order = terms.map(({ column, direction }) => [column.column, column.kind, direction])
  const list = [1, model.type, tenant, '', orderBy, '', false, order, values]
  return createHash('sha256').update(JSON.stringify(list)).digest().subarray(0, 16).toString('base64url')
}

/** Returns a keyset page token with a valid checksum and chosen values, for specimens in the given order. */
export const forgedToken = (values: readonly unknown[], orderBy: string, tenant: string): string =>
  Buffer.from(JSON.stringify([values, sumOf(values, orderBy, tenant)])).toString('base64url')
