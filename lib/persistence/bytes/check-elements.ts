import type { ResourceModel } from '../../resource/resource-model.js'
import { fittingElements } from './counted-bytes.js'
import { TooManyBytes } from './too-many-bytes.js'

/** @throws TooManyBytes for several rows whose values have more elements than fit. */
export function checkElements(model: ResourceModel, rows: readonly object[], maxBytes = Infinity): void {
  if (maxBytes === Infinity) return
  const count = fittingElements(model, rows, maxBytes)
  if (count < rows.length) throw new TooManyBytes(maxBytes, count)
}
