import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packedProject } from '../../test/support/projects/packed-project.js'

/** The environment variable with the project's folder, for the processes of the sides. */
const VARIABLE = 'BENCH_PACKED'
const SERVERS = ['widgets-ashlar', 'listening-widgets', 'postgres-address'].map(
  (name) => `bench/sides/${name}.js`,
)

/**
 * Creates a project with the bundled package as npm would publish it, and the servers of the sides. It exists
 * until this process ends.
 */
export function packProject(): void {
  if (process.env[VARIABLE] !== undefined) return
  const folder = mkdtempSync(join(tmpdir(), 'ashlar-bench-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  process.env[VARIABLE] = packedProject(folder, ['typeorm', '@bufbuild/protobuf', 'pg'], SERVERS)
}

/** Returns a file of the project. */
export function packedFile(path: string): string {
  const project = process.env[VARIABLE]
  if (project === undefined) throw new TypeError('nothing is packed: the subject has to say so')
  return join(project, path)
}
