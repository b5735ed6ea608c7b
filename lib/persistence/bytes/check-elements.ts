import type { ResourceModel } from '../../resource/resource-model.js'
import { fittingElements } from './counted-bytes.js'
import { TooManyBytes } from './too-many-bytes.js'

/**
 * Throws if several rows together have more JSON elements than `maxBytes` allows. A single row always passes.
 *
 * @throws TooManyBytes with the number of rows that fit.
 */
export function checkElements(model: ResourceModel, rows: readonly object[], maxBytes = Infinity): void {
  if (maxBytes === Infinity) return
  const count = fittingElements(model, rows, maxBytes)
  if (count < rows.length) throw new TooManyBytes(maxBytes, count)
}
