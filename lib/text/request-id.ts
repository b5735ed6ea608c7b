/** The caller's own request id when it is fit to be logged and sent back, else undefined. */
export const acceptableRequestId = (id: string | undefined): string | undefined =>
  id !== undefined && /^[\x21-\x7e]{1,128}$/.test(id) ? id : undefined
