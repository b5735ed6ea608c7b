import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The parts of a project's package.json that are used. */
export interface ProjectManifest {
  readonly type?: unknown
  readonly scripts?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly ashlar?: { readonly files?: string }
}

/** Returns the package.json of a project; undefined if there is none. */
export function manifestOf(folder: string): ProjectManifest | undefined {
  const path = join(folder, 'package.json')
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as ProjectManifest) : undefined
}
