import type { IgnoredPath } from './update-mask-forms.js'

/** The maximum size of the header in bytes. */
const MAX_BYTES = 512

/** Returns the value of `X-Ignored-Update-Mask`: each path percent-encoded, with the nearest valid names. */
export function ignoredMaskHeader(ignored: readonly IgnoredPath[]): string {
  let text = ''
  for (const { path, nearest } of ignored) {
    const escaped = encodeURIComponent(path.toWellFormed())
    const item = `${escaped};nearest="${nearest.map(encodeURIComponent).join(' ')}"`
    const longer = text === '' ? item : `${text}, ${item}`
    if (longer.length <= MAX_BYTES) text = longer
    else return text === '' ? cut(escaped) : text
  }
  return text
}

/** Truncates an escaped path, but never inside an escape. */
const cut = (escaped: string): string => escaped.slice(0, MAX_BYTES).replace(/%[0-9A-F]?$/, '')
