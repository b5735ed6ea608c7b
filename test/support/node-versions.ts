import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { compiled, root } from './root.js'
import { installNode } from './running/installed-node.js'

/**
 * Runs the tests on other versions of Node.js: `node dist/test/support/node-versions.js 22 24`. Words after
 * `--` select tests. Each version is installed from the npm registry into a temporary folder, with its
 * headers, and the database engine that needs a compiler is compiled there for it.
 */
const [versions, words] = divided(process.argv.slice(2))
if (versions.length === 0) throw new TypeError('name versions of Node, such as 22 24')
const outcomes: string[] = []
for (const version of versions) outcomes.push(await tested(version))
for (const outcome of outcomes) console.log(outcome)

function divided(asked: readonly string[]): readonly [versions: readonly string[], words: readonly string[]] {
  const at = asked.indexOf('--')
  return at < 0 ? [asked, []] : [asked.slice(0, at), asked.slice(at + 1)]
}

async function tested(version: string): Promise<string> {
  if (!/^\d+(\.\d+){0,2}$/.test(version)) throw new TypeError(`"${version}" is no version of Node`)
  const folder = mkdtempSync(join(tmpdir(), `ashlar-node-${version}-`))
  // Some tests run the program as another user, who must be able to read the folder.
  chmodSync(folder, 0o755)
  try {
    const { node, headers, name } = installNode(version, folder)
    const engines = join(folder, 'engines')
    const source = join(root, 'test', 'support', 'engines')
    cpSync(source, engines, { recursive: true, filter: (path) => path !== join(source, 'node_modules') })
    if (Number(/^v(\d+)/.exec(name)?.[1]) >= 24) installNewerEngine(node, engines)
    console.log(`== Node ${name}`)
    const { status, summary } = await run(node, {
      ...process.env,
      PATH: `${dirname(node)}${delimiter}${process.env.PATH ?? ''}`,
      npm_config_nodedir: headers,
      ASHLAR_TEST_ENGINES: engines,
    })
    if (status !== 0) process.exitCode = 1
    return `Node ${name}: ${summary}`
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * Installs better-sqlite3 13. Version 12 crashes Node.js 24.19 and later during garbage collection
 * (nodejs/node#65446).
 */
function installNewerEngine(node: string, engines: string): void {
  const { status } = spawnSync('npm', ['install', '--no-audit', '--no-fund', 'better-sqlite3@13'], {
    cwd: engines,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH ?? ''}` },
  })
  if (status !== 0) throw new TypeError('better-sqlite3@13 cannot be installed')
}

async function run(
  node: string,
  env: NodeJS.ProcessEnv,
): Promise<{ status: number | null; summary: string }> {
  const child = spawn(node, [join(compiled, 'test', 'support', 'run.js'), ...words], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let last = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    process.stdout.write(text)
    last = (last + text).slice(-1_000)
  })
  const status = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { status, summary: /^\d+ passed, \d+ failed.*$/m.exec(last)?.[0] ?? `ended with status ${status}` }
}
