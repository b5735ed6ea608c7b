import { execFileSync } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

// Installs the second SQLite engine, the client of buf and the generator that it runs, once. Where no prebuilt binary can be fetched it is compiled, which takes a minute
// or two; optimised less than usual, because it is only asked whether it answers what the first engine answers.
const folder = dirname(fileURLToPath(import.meta.url))

if (!loads()) {
  console.log(
    'installing better-sqlite3, buf and protoc-gen-es for the tests, which takes a minute or two where it must be compiled',
  )
  const flags = { CFLAGS: '-O1', CXXFLAGS: '-O1', JOBS: 'max', ...process.env }
  execFileSync('npm', ['ci', '--no-audit', '--no-fund'], {
    cwd: folder,
    env: flags,
    stdio: ['ignore', 'pipe', 'inherit'],
    shell: process.platform === 'win32',
  })
  if (!loads())
    throw new TypeError('better-sqlite3 was installed and does not load: npm wants its build script allowed')
}

// The tools whose schemas are taken over: nothing of them is compiled.
const tools = join(folder, '..', 'migration-tools')
if (existsSync(join(tools, 'package.json')) && !existsSync(join(tools, 'node_modules', 'knex')))
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: tools,
    stdio: ['ignore', 'pipe', 'inherit'],
    shell: process.platform === 'win32',
  })

/** True if the engine is there and was built for this Node. */
function loads() {
  for (const name of ['better-sqlite3', '@bufbuild/protoc-gen-es'])
    if (!existsSync(join(folder, 'node_modules', name))) return false
  const hasBuf = process.platform === 'linux' && process.arch === 'x64'
  if (hasBuf && !existsSync(join(folder, 'node_modules', '@bufbuild', 'buf-linux-x64'))) return false
  try {
    execFileSync(process.execPath, ['-e', "new (require('better-sqlite3'))(':memory:').close()"], {
      cwd: folder,
      stdio: 'ignore',
    })
    return true
  } catch {
    rmSync(join(folder, 'node_modules'), { recursive: true, force: true })
    return false
  }
}
