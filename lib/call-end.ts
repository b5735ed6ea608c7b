/** Tells when a call ends: an AbortSignal, or what tells it without one. */
export interface CallEnd {
  readonly aborted: boolean
  readonly reason?: unknown
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once: true }): void
  removeEventListener(type: 'abort', listener: () => void): void
}
