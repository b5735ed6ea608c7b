import type * as Connect from '@connectrpc/connect'

/** The module `@connectrpc/connect`, which implements the protocols. */
export type ConnectPackage = typeof Connect

/** Imports the package; undefined if it is not installed. */
export const loadConnect = async (): Promise<ConnectPackage | undefined> => {
  try {
    return await import('@connectrpc/connect')
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_MODULE_NOT_FOUND') return undefined
    throw error
  }
}
