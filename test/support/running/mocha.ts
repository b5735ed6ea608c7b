import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { format } from 'node:util'
import Mocha from 'mocha'
import { RequestContext } from '../../../lib/context.js'
import { drill } from '../drill.js'
import { FILE_ENDS, type FileResult, NOTHING_RUN } from './file-result.js'
import { processorMs } from './processor-time.js'
import { compiled, root } from '../root.js'

/**
 * A process that runs test files. Each message names one file, and a line on stdout that begins with {@link
 * FILE_ENDS} marks the end of its output. The process exits when the parent disconnects.
 */

// Tests fill their tables as system, which does not need to be logged. The servers of tests log to their own
// logger.
RequestContext.onSystem(() => {})

// A command that runs in this process captures stdout. The reporter uses the original `write`, so that a
// command that hangs does not hide the report.
const print = process.stdout.write.bind(process.stdout)
Mocha.reporters.Base.consoleLog = (...values: unknown[]) => void print(`${format(...values)}\n`)

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { mocha: Mocha.MochaOptions }

/** The maximum duration of a test. It is long because only a test that hangs reaches it. */
const LONGEST_MS = 600_000
const LONGEST_DRILL_MS = 3_600_000

async function run(file: string): Promise<FileResult> {
  const began = performance.now()
  const cpuBegan = processorMs()
  const mocha = new Mocha({
    ...manifest.mocha,
    timeout: drill(LONGEST_MS, LONGEST_DRILL_MS),
    reporter: 'spec',
    color: process.stdout.isTTY === true,
  })
  mocha.addFile(file)
  await mocha.loadFilesAsync()
  closeWhatIsOpen(mocha.suite)
  const failures: string[] = []
  const result = await new Promise<FileResult>((resolve) => {
    const runner = mocha.run((failed) => {
      const { passes = 0, pending = 0 } = runner.stats ?? {}
      const time = {
        file: relative(join(compiled, 'test'), file),
        wallMs: performance.now() - began,
        cpuMs: processorMs() - cpuBegan,
      }
      resolve({ passed: passes, failed, skipped: pending, failures, times: [time] })
    })
    runner.on('fail', (test) => failures.push(test.fullTitle()))
  })
  // Without this call, the listeners of each file would stay on the process.
  mocha.dispose()
  return result
}

/**
 * Lets the `after` hooks of a suite whose `before` was skipped close what was opened. A TypeError from a
 * variable that was never set is not a failure then.
 */
function closeWhatIsOpen(suite: Mocha.Suite): void {
  const { _beforeAll: before, _afterAll: after } = suite as unknown as Readonly<Record<string, Mocha.Hook[]>>
  for (const hook of after ?? []) {
    const close = hook.fn as ((this: unknown) => unknown) | undefined
    if (close === undefined || close.length > 0) continue
    hook.fn = async function (this: unknown) {
      try {
        await close.call(this)
      } catch (error) {
        const isSkipped = before?.some((one) => one.pending) === true
        if (!isSkipped || !(error instanceof TypeError)) throw error
      }
    }
  }
  for (const inner of suite.suites) closeWhatIsOpen(inner)
}

process.on('message', (file: string) => {
  void run(file)
    .catch((error: unknown): FileResult => {
      console.log(error)
      return { ...NOTHING_RUN, failed: 1, failures: [`${file} cannot be loaded`] }
    })
    .then((result) => print(`${FILE_ENDS}${JSON.stringify(result)}\n`))
})
process.once('disconnect', () => {
  const stillOpen = () =>
    console.log(`still open: ${[...new Set(process.getActiveResourcesInfo())].join(', ')}`)
  setTimeout(stillOpen, 10_000).unref()
})
