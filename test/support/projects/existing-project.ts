import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type LinkedProject, linkedProject } from './linked-project.js'

/** Creates the project of an application that uses only TypeORM. */
export async function existingProject(
  name: string,
  sources: Readonly<Record<string, string>>,
): Promise<LinkedProject> {
  const project = await linkedProject(name, ['--database', 'postgres'])
  const { folder } = project
  for (const path of ['src', 'proto', 'test', 'migrations', 'buf.yaml', 'buf.gen.yaml'])
    rmSync(join(folder, path), { recursive: true })
  const manifest = join(folder, 'package.json')
  const { type, dependencies } = JSON.parse(readFileSync(manifest, 'utf8')) as Record<string, unknown>
  writeFileSync(manifest, JSON.stringify({ name, type, dependencies, scripts: { build: 'tsc' } }))
  for (const [path, text] of Object.entries(sources)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return project
}
