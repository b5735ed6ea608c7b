import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from './root.js'

/** `npm run check`: everything about the project that is not a test. Arguments name checks and narrow the run. */
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
/** A few entries of those that the pattern in `exports` names: attw tries no patterns. */
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

const CHECKS: readonly Check[] = [
  { name: 'types', command: [bin('tsc'), '-p', 'tsconfig.json', '--noEmit', '--incremental', 'false'] },
  { name: 'lint', command: [bin('eslint'), '.', '--max-warnings', '0'] },
  { name: 'format', command: [bin('prettier'), '--check', '--log-level', 'warn', '.', '!**/gen/**'] },
  { name: 'unused', command: [bin('knip'), '--no-progress'] },
  {
    name: 'package: make',
    command: [
      ...['npm', 'pack', '--ignore-scripts', '--workspaces', '--include-workspace-root'],
      ...['--pack-destination', folder],
    ],
  },
  { name: 'package: publint', command: [bin('publint'), 'run', tarball, '--strict'] },
  { name: 'package: types', command: [bin('attw'), tarball, '--profile', 'esm-only', '--no-emoji'] },
  {
    name: 'package: publint of annotations',
    command: [bin('publint'), 'run', annotations, '--strict'],
  },
  {
    name: 'package: types of annotations',
    command: [
      ...[bin('attw'), annotations, '--profile', 'esm-only', '--no-emoji', '--entrypoints'],
      ...ENTRIES,
    ],
  },
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
]

const asked = process.argv.slice(2)
let passed = 0
let failed = 0
let skipped = 0
for (const { name: check, command, unless } of CHECKS) {
  if (asked.length > 0 && !asked.some((part) => check.includes(part))) continue
  if (unless?.() === true) {
    console.log(`SKIP ${check}`)
    skipped++
    continue
  }
  const [program = '', ...rest] = command
  const started = Date.now()
  const { status, stdout, stderr } = spawnSync(program, rest, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    env: { ...process.env, FORCE_COLOR: '0' },
  })
  console.log(`${status === 0 ? 'PASS' : 'FAIL'} ${check} (${((Date.now() - started) / 1000).toFixed(1)} s)`)
  if (status === 0) passed++
  else failed++
  if (status !== 0) console.log(`${command.join(' ').replaceAll(`${root}/`, '')}\n${stdout}${stderr}`)
}
rmSync(folder, { recursive: true, force: true })
console.log(`${passed} passed, ${failed} failed${skipped === 0 ? '' : `, ${skipped} skipped`}`)
process.exitCode = failed === 0 ? 0 : 1
