import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'

/** The files of `swagger-ui-dist` that the page loads, and their content types. */
const FILES: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
}

export interface File {
  readonly contentType: string
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** Reads one of the files; undefined for any other name. */
export type SwaggerUi = (name: string) => Promise<File | undefined>

/**
 * Returns a reader for the files; undefined if the package is not installed. None of its code runs in this
 * process.
 */
export const swaggerUi = (): SwaggerUi | undefined => {
  const { resolve } = createRequire(import.meta.url)
  const at = (name: string): string => resolve(`swagger-ui-dist/${name}`)
  try {
    if (!existsSync(at('swagger-ui-bundle.js'))) return undefined
  } catch (error) {
    if ((error as { code?: string }).code === 'MODULE_NOT_FOUND') return undefined
    throw error
  }
  return async (name) => {
    const contentType = Object.hasOwn(FILES, name) ? FILES[name] : undefined
    if (contentType === undefined) return undefined
    return { contentType, bytes: new Uint8Array(await readFile(at(name))) }
  }
}
