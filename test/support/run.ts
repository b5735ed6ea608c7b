import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, sep } from 'node:path'
import { askedBackends, inCi, servicesFor } from './running/asked.js'
import { enginesFolder } from './databases/better-sqlite3.js'
import { mostExpensive } from './running/most-expensive.js'
import { type FileResult, together } from './running/file-result.js'
import { compiled, root } from './root.js'
import { ABSENT, type Service, SERVICES } from './running/services.js'
import { startServices } from './running/start-services.js'
import { memoryFolder } from './running/memory-folder.js'
import { summaryIn } from './running/summary.js'
import { processorMs } from './running/processor-time.js'
import { runFiles } from './running/test-process.js'

/**
 * Runs `npm test`: finds or starts the servers, runs mocha over the compiled tests, stops the servers that it
 * started and prints which tests it left out. It uses two processes more than there are cores, because tests
 * wait for servers and timers. Arguments select test files (`persistence/query`). `BACKENDS=memory,sqlite`
 * selects databases, `JOBS=1` sets the number of processes, and `--times` prints the time of every file. A
 * drill measures times, so it uses one process and prints each test when it ends.
 */
const asked = process.argv.slice(2)
const filters = asked.filter((argument) => !argument.startsWith('--'))
const isDrill = asked.includes('--drill')
const backends = askedBackends()

const files = testFiles()
const missing: string[] = []
installEngines()

/**
 * The folder of all temporary files, which is removed after the run. Everyone may write to it, because the
 * servers run as another user.
 */
const folder = mkdtempSync(join(process.env.TMPDIR ?? memoryFolder() ?? tmpdir(), 'ashlar-test-'))
chmodSync(folder, 0o1777)
process.env.TMPDIR = folder

const wanted = servicesFor(backends)
const started = await startServices(wanted, filters.length === 0)
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => void end().then(() => process.exit(130)))
missing.push(...started.missing.map(({ service, why }) => `${service}: ${why}`))
for (const note of started.notes) console.log(note)
for (const line of missing) console.log(`CANNOT BE HAD ${line}`)

try {
  const { passed, failed, skipped, failures: titles, times } = await runAll()
  const summary = summaryIn(join(folder, 'summary'))
  await started.stop()
  missing.push(...summary.missing)
  for (const line of mostExpensive(times, processorMs(), asked.includes('--times') ? Infinity : undefined))
    console.log(line)
  for (const title of titles) console.log(`FAILED ${title}`)
  for (const line of summary.leftOut) console.log(line)
  for (const line of missing) console.log(`CANNOT BE HAD ${line}${inCi() ? ', and CI needs it' : ''}`)
  const packages = started.missing.map(({ service }) => SERVICES[service].debian)
  if (packages.length > 0)
    console.log(`Missing servers come with the Debian packages ${packages.join(', ')}.`)
  const failures = failed + (inCi() ? missing.length : 0)
  console.log(`${passed} passed, ${failures} failed${skipped === 0 ? '' : `, ${skipped} skipped`}`)
  process.exitCode = failures === 0 ? 0 : 1
} finally {
  await end()
}

async function end(): Promise<void> {
  await started.stop()
  rmSync(folder, { recursive: true, force: true })
}

/**
 * Returns the compiled tests whose source still exists, so that stale files in `dist` are not run. The tests
 * of packages are in their own `dist`.
 */
function testFiles(): readonly string[] {
  const sources = [
    ...testsIn('test').map((source) => [source, join(compiled, 'test', source)] as const),
    ...testsIn('packages/idp/test').map(
      (source) => [`idp/${source}`, join(root, 'packages/idp/dist/test', source)] as const,
    ),
  ]
  const idle = filters.filter((part) => !sources.some(([source]) => source.includes(part)))
  if (idle.length > 0) throw new TypeError(`no test file has ${idle.join(' or ')} in its path`)
  return sources
    .filter(([source]) => filters.length === 0 || filters.some((part) => source.includes(part)))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, path]) => path.replace(/\.ts$/, '.js'))
}

function testsIn(folder: string): readonly string[] {
  // Packages that tests have installed into these folders may include tests of their own.
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).filter(
    (source) => source.endsWith('.test.ts') && !source.split(sep).includes('node_modules'),
  )
}

/** Installs the database engines that only tests need into a separate folder, once. */
function installEngines(): void {
  if (!existsSync(join(enginesFolder, 'install.mjs'))) return
  try {
    execFileSync(process.execPath, [join(enginesFolder, 'install.mjs')], {
      stdio: ['ignore', 'inherit', 'inherit'],
    })
  } catch (error) {
    missing.push(`better-sqlite3: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/**
 * Reorders the files so that files of different folders run at the same time. Files of one folder often use
 * the same resource, such as processes.
 */
function mixed(ordered: readonly string[], jobs: number): string[] {
  const part = Math.ceil(ordered.length / jobs)
  return Array.from({ length: part }, (_, at) =>
    Array.from({ length: jobs }, (__, job) => ordered[job * part + at] ?? []).flat(),
  ).flat()
}

async function runAll(): Promise<FileResult> {
  const absent = (Object.keys(SERVICES) as Service[])
    .filter((service) => !wanted.includes(service))
    .map((service): [string, string] => [SERVICES[service].variable, ABSENT])
  const environment = {
    ...process.env,
    ...Object.fromEntries(absent),
    ...started.environment,
    ...(isDrill ? { ASHLAR_DRILL: '1' } : {}),
    ASHLAR_TEST_SUMMARY: join(folder, 'summary'),
  }
  const jobs = isDrill ? 1 : Number(process.env.JOBS ?? availableParallelism() + 2)
  const queue = mixed(files, jobs)
  const processes = Math.min(jobs, files.length)
  const results = await Promise.all(
    Array.from({ length: processes }, () => runFiles(() => queue.shift(), environment, processes === 1)),
  )
  const result = results.reduce(together)
  const isEmpty = result.passed + result.failed + result.skipped === 0
  return isEmpty ? { ...result, failed: 1, failures: ['no test was run'] } : result
}
