import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Installs the peers once, from their own lock file and never into Ashlar's. */
export function installPeers(): void {
  const bench = join(import.meta.dirname, '..', '..', 'bench')
  const { dependencies } = JSON.parse(readFileSync(join(bench, 'package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>
  }
  if (Object.keys(dependencies).every((name) => existsSync(join(bench, 'node_modules', name)))) return
  execFileSync('npm', ['--prefix', bench, 'ci'], { stdio: ['ignore', 'inherit', 'inherit'] })
}
