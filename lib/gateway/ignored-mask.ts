import type { IgnoredPath } from './update-mask.js'

/** Bytes of the header, at most. */
const MAX_BYTES = 512

/** Value of `X-Ignored-Update-Mask`: each path percent-encoded, with the names it should have been. */
export function ignoredMaskHeader(ignored: readonly IgnoredPath[]): string {
  let text = ''
  for (const { path, nearest } of ignored) {
    const item = `${encodeURIComponent(path.toWellFormed())};nearest="${nearest.map(encodeURIComponent).join(' ')}"`
    const longer = text === '' ? item : `${text}, ${item}`
    if (longer.length > MAX_BYTES)
      return text === '' ? item.slice(0, item.lastIndexOf('%', MAX_BYTES - 3)) : text
    text = longer
  }
  return text
}
