import type * as Connect from '@connectrpc/connect'

/** The package that writes the protocols. */
export type ConnectPackage = typeof Connect

/** Undefined where the package is not installed. */
export const loadConnect = async (): Promise<ConnectPackage | undefined> => {
  try {
    return await import('@connectrpc/connect')
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_MODULE_NOT_FOUND') return undefined
    throw error
  }
}
