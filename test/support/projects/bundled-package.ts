import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { root } from '../root.js'
import { until } from '../until.js'
import { bundledInto } from './packed-package.js'

/** The bundle is written next to the summary file. The runner removes that folder at the end of the run. */
const { ASHLAR_TEST_SUMMARY: summary, NODE_V8_COVERAGE: coverage } = process.env

/**
 * Returns the folder of the bundled package, as `npm publish` sends it. It is built once per run. A process
 * loads it in half the time of the compiled modules. When coverage is measured, returns the repository,
 * because coverage counts the compiled modules.
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

/**
 * Builds the bundle in the first process of a run. Other processes find the folder `bundled-begun`, and wait.
 */
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
