import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from './root.js'

/**
 * `npm run check` runs all checks except tests. The preceding build checks types. Arguments select checks by
 * name.
 */
interface Check {
  readonly name: string
  readonly command: readonly string[]
  readonly unless?: () => boolean
}

const bin = (name: string): string => join(root, 'node_modules', '.bin', name)
const folder = mkdtempSync(join(tmpdir(), 'ashlar-pack-'))
const tarballOf = (path: string): string => {
  const text = readFileSync(join(root, path, 'package.json'), 'utf8')
  const { name, version } = JSON.parse(text) as { name: string; version: string }
  return join(folder, `${name}-${version}.tgz`)
}
const tarball = tarballOf('.')
const annotations = tarballOf('packages/annotations')
const idp = tarballOf('packages/idp')
/** Some of the entries that the pattern in `exports` covers, because attw does not support patterns. */
const ENTRIES = [
  ...['google/api/annotations_pb', 'google/api/http_pb.js', 'google/rpc/status_pb.js'],
  ...['google/longrunning/operations_pb', 'google/type/money_pb', 'buf/validate/validate_pb'],
  'ashlar/api/v1/annotations_pb.js',
]
const generated = [
  'packages/annotations/gen',
  'lib/gen',
  'examples/widgets/gen',
  'examples/orders/gen',
  'examples/library/gen',
  'test/support/gen',
]
const cliReference = join(root, 'dist', 'cli', 'help', 'reference.js')

/** The lint runs concurrently with the others, because it takes as long as all of them. */
const LINT: readonly Check[] = [{ name: 'lint', command: [bin('eslint'), '.', '--max-warnings', '0'] }]
const BESIDE: readonly Check[] = [
  { name: 'format', command: [bin('prettier'), '--check', '--log-level', 'warn', '.', '!**/gen/**'] },
  { name: 'unused', command: [bin('knip'), '--no-progress'] },
  {
    name: 'english',
    command: [process.execPath, join(root, 'dist', 'test', 'support', 'sources', 'english.js')],
  },
  {
    name: 'package: make',
    command: [process.execPath, join(root, 'dist', 'test', 'support', 'projects', 'pack.js'), folder],
  },
  {
    name: 'package: make idp',
    command: [
      ...['npm', 'pack', '--ignore-scripts', '--workspace', 'packages/idp', '--pack-destination', folder],
    ],
  },
  { name: 'package: publint', command: [bin('publint'), 'run', tarball, '--strict'] },
  { name: 'package: types', command: [bin('attw'), tarball, '--no-emoji'] },
  {
    name: 'package: publint of annotations',
    command: [bin('publint'), 'run', annotations, '--strict'],
  },
  {
    name: 'package: types of annotations',
    command: [...[bin('attw'), annotations, '--no-emoji', '--entrypoints'], ...ENTRIES],
  },
  { name: 'package: publint of idp', command: [bin('publint'), 'run', idp, '--strict'] },
  { name: 'package: types of idp', command: [bin('attw'), idp, '--profile', 'esm-only', '--no-emoji'] },
  // Fails for an exported name without a comment, for a broken link, and for a page that cannot be built.
  { name: 'site', command: ['npm', 'run', '--silent', 'docs'] },
]
/** These checks write files that others read, so they run last. */
const AT_LAST: readonly Check[] = [
  { name: 'generated code: make', command: ['npm', 'run', '--silent', 'gen'] },
  {
    name: 'generated code: compare',
    command: [
      'sh',
      '-c',
      `changed=$(git status --porcelain -- ${generated.join(' ')}); echo "$changed"; test -z "$changed"`,
    ],
  },
  {
    name: 'command reference',
    command: [process.execPath, cliReference, '--check'],
    unless: () => !existsSync(cliReference),
  },
  {
    name: 'page about TypeORM',
    command: [
      process.execPath,
      join(root, 'dist', 'test', 'conformance', 'typeorm', 'write-page.js'),
      '--check',
    ],
  },
]

const asked = process.argv.slice(2)
let passed = 0
let failed = 0
let skipped = 0
await Promise.all([LINT, BESIDE].map(runEach))
await runEach(AT_LAST)
rmSync(folder, { recursive: true, force: true })
console.log(`${passed} passed, ${failed} failed${skipped === 0 ? '' : `, ${skipped} skipped`}`)
process.exitCode = failed === 0 ? 0 : 1

/** Runs checks one after another. */
async function runEach(checks: readonly Check[]): Promise<void> {
  for (const { name: check, command, unless } of checks) {
    if (asked.length > 0 && !asked.some((part) => check.includes(part))) continue
    if (unless?.() === true) {
      console.log(`SKIP ${check}`)
      skipped++
      continue
    }
    const started = Date.now()
    const { isPassed, printed } = await ran(command)
    console.log(`${isPassed ? 'PASS' : 'FAIL'} ${check} (${((Date.now() - started) / 1000).toFixed(1)} s)`)
    if (isPassed) passed++
    else failed++
    if (!isPassed) console.log(`${command.join(' ').replaceAll(`${root}/`, '')}\n${printed}`)
  }
}

function ran([program = '', ...rest]: readonly string[]): Promise<{ isPassed: boolean; printed: string }> {
  const options = { cwd: root, maxBuffer: 1 << 28, env: { ...process.env, FORCE_COLOR: '0' } }
  return new Promise((resolve) => {
    const child = execFile(program, rest, options, (error, stdout, stderr) =>
      resolve({ isPassed: error === null, printed: `${stdout}${stderr}` }),
    )
    child.stdin?.end()
  })
}
