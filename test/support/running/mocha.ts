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
 * A process that runs test files: each message names one, and a line on stdout that begins with
 * {@link FILE_ENDS} ends what it prints. It ends itself when the parent disconnects.
 */

// Tests fill their tables as system; nobody has to read of it. A server of a test reports to its own logger.
RequestContext.onSystem(() => {})

// A command that runs in this process keeps what is printed meanwhile; one that hangs would keep the report.
const print = process.stdout.write.bind(process.stdout)
Mocha.reporters.Base.consoleLog = (...values: unknown[]) => void print(`${format(...values)}\n`)

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { mocha: Mocha.MochaOptions }

/** The time a test may take. Nothing waits for it but a test that hangs. */
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
  // Otherwise each file leaves its listeners on the process.
  mocha.dispose()
  return result
}

/**
 * The `after` of a suite whose `before` was skipped closes what that has opened, as far as it came: what was
 * never opened is undefined, and no failure.
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
