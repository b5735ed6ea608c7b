import { InvalidArgument } from '../../errors.js'
import type { Direction } from './order-by.js'
import type { MaskOf } from '../../resource/mask-of.js'

/** One term of an order: a proto field name, ascending, or a name with its direction. */
export type OrderBy<T> = MaskOf<T> | { readonly [K in MaskOf<T>]: Readonly<Record<K, Direction>> }[MaskOf<T>]

/**
 * An order as AIP-132 text.
 * @throws InvalidArgument for a term that is no field and its direction.
 */
export const orderText = (order: string | readonly OrderBy<never>[] | undefined): string => {
  if (order === undefined || typeof order === 'string') return order ?? ''
  return order.map(termText).join(',')
}

const termText = (term: string | object): string => {
  const [entry, other]: readonly (readonly unknown[] | undefined)[] =
    typeof term === 'string' ? [[term, 'asc']] : Object.entries(term)
  const [name, direction]: readonly unknown[] = entry ?? []
  if (other !== undefined || typeof name !== 'string' || !NAME.test(name))
    throw new InvalidArgument('order_by', 'each term names one field: a name, or { name: "desc" }')
  if (direction !== 'asc' && direction !== 'desc')
    throw new InvalidArgument('order_by', `the direction of ${name} is "asc" or "desc"`)
  return direction === 'asc' ? name : `${name} desc`
}

/** No comma and no space, by which a name would be several terms. */
const NAME = /^[^\s,]+$/
