// npm runs it before it packs, `node packages/pack.mjs begin`, and afterwards with `end`. In between, `dist` and package.json
// are what is published, and those of the checkout are in `dist-kept` and `dist-kept.json`.
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const dist = join(root, 'dist')
const kept = join(root, 'dist-kept')
const manifest = join(root, 'package.json')
const keptManifest = join(root, 'dist-kept.json')

const [moment] = process.argv.slice(2)
if (moment === 'begin') begin()
else if (moment === 'end') end()
else throw new TypeError('say begin or end')

function begin() {
  // Packing was interrupted.
  if (existsSync(keptManifest)) end()
  copyFileSync(manifest, keptManifest)
  if (existsSync(dist)) renameSync(dist, kept)
  try {
    run('npm', 'run', 'build')
    run(process.execPath, 'packages/bundle.mjs')
  } catch (error) {
    end()
    throw error
  }
}

function end() {
  rmSync(dist, { recursive: true, force: true })
  if (existsSync(kept)) renameSync(kept, dist)
  renameSync(keptManifest, manifest)
}

function run(program, ...rest) {
  // What it prints is not of `npm pack --json`.
  execFileSync(program, rest, { cwd: root, stdio: ['ignore', 2, 2] })
}
