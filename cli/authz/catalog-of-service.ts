import { readFileSync } from 'node:fs'
import type { Permission } from '../../lib/server/index.js'
import { Failure } from '../errors/failure.js'
import { servedBy } from '../loading/served.js'
import { CATALOG_FORMATS, type CatalogFormat } from './catalog-text.js'

export interface CatalogOptions {
  /** The compiled module of a server, a builder or generated services. */
  readonly module: string
  readonly exportName: string | undefined
  readonly format: CatalogFormat
  /** A file whose content is compared with the catalog. */
  readonly check: string | undefined
}

export interface Catalog {
  readonly permissions: readonly Permission[]
  /** The catalog, followed by a newline. */
  readonly text: string
  /** True if the compared file has other content. */
  readonly differs: boolean
}

/** Returns the permission catalog of a module. The same services always produce the same bytes. */
export async function catalog({ module, exportName, format, check }: CatalogOptions): Promise<Catalog> {
  const served = await servedBy(module, exportName)
  const { permissionCatalog } = await import('../../lib/server/index.js')
  const source =
    served.kind === 'builder'
      ? build(served.builder)
      : served.kind === 'server'
        ? served.server
        : served.services
  const permissions = permissionCatalog(source)
  const text = CATALOG_FORMATS[format](permissions)
  return { permissions, text, differs: check !== undefined && read(check) !== text }
}

/** Builds the server. It does not listen, so it needs no address. */
const build = (builder: Extract<Awaited<ReturnType<typeof servedBy>>, { kind: 'builder' }>['builder']) =>
  builder.build((config) => ({ ...config, grpcAddr: config.grpcAddr ?? ':0' }))

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new Failure('input', `${path} cannot be read: ${(error as Error).message}`, { cause: error })
  }
}
