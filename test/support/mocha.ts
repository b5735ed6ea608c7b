import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import Mocha from 'mocha'
import { RequestContext } from '../../lib/context.js'
import { root } from './root.js'

/** What the process that runs mocha tells the one that started it. */
export interface Counts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

// Tests fill their tables as system; nobody has to read of it. A server of a test reports to its own logger.
RequestContext.onSystem(() => {})

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { mocha: Mocha.MochaOptions }
const mocha = new Mocha({ ...manifest.mocha, reporter: 'spec', color: process.stdout.isTTY === true })
for (const file of process.argv.slice(2)) mocha.addFile(file)
await mocha.loadFilesAsync()
const runner = mocha.run((failures) => {
  const counts: Counts = {
    passed: runner.stats?.passes ?? 0,
    failed: failures,
    skipped: runner.stats?.pending ?? 0,
  }
  process.exitCode = failures === 0 ? 0 : 1
  process.send?.(counts, () => process.disconnect())
  const stillOpen = () =>
    console.log(`still open: ${[...new Set(process.getActiveResourcesInfo())].join(', ')}`)
  setTimeout(stillOpen, 10_000).unref()
})
