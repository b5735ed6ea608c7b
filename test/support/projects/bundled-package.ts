import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { root } from '../root.js'
import { until } from '../until.js'
import { bundledInto } from './packed-package.js'

/** The runner removes its folder at the end, with this. */
const { ASHLAR_TEST_SUMMARY: summary, NODE_V8_COVERAGE: coverage } = process.env

/**
 * The folder of the package with bundles, as `npm publish` sends it, made once for a run. A process loads it
 * in half the time that the compiled modules take. Coverage is of the compiled modules, which are the package
 * then.
 */
export async function bundledPackage(): Promise<string> {
  if (coverage !== undefined) return root
  bundled ??= made(summary === undefined ? ownFolder() : dirname(summary))
  return bundled
}

let bundled: Promise<string> | undefined

function ownFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ashlar-bundled-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** The first process of a run makes it; the folder that says so stays. */
async function made(folder: string): Promise<string> {
  const begun = join(folder, 'bundled-begun')
  const making = join(folder, 'bundling')
  const done = join(folder, 'bundled')
  try {
    mkdirSync(begun)
  } catch {
    await until(() => existsSync(done), 110_000)
    return join(done, 'package')
  }
  mkdirSync(making)
  bundledInto(join(making, 'package'))
  symlinkSync(join(root, 'node_modules'), join(making, 'node_modules'))
  renameSync(making, done)
  return join(done, 'package')
}
