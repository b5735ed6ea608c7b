import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { freePort } from '../dist/test/support/free-port.js'
import { linkedProject } from '../dist/test/support/projects/linked-project.js'

/**
 * `npm run build && node docs/record-terminal.mjs`: runs the first minute of a project, and writes what its terminal
 * showed as `docs/guides/pictures/first-minute-{light,dark}.svg`. Nothing is typed but the commands; ports, paths of
 * temporary folders and colours are replaced, and long outputs are cut where a line says so.
 */
const run = promisify(execFile)
const here = dirname(fileURLToPath(import.meta.url))
const NEW = ['new', 'shop', '--database', 'sqlite', '--no-nest', '--auth', 'headers']
const WIDTH = 100

const lines = []
const shown = (text) =>
  text
    .replaceAll(/\u001b\[[\d;]*m/g, '')
    .replaceAll(ports.http, '8080')
    .replaceAll(ports.grpc, '9090')
    .replaceAll('127.0.0.1', 'localhost')
    .trimEnd()
    .split('\n')
function show(command, output, most = 99) {
  for (const [at, text] of command.split('\n').entries())
    lines.push({ kind: 'command', text: at === 0 ? `$ ${text}` : `    ${text}` })
  const all = shown(output)
  for (const line of all.slice(0, most)) wrap(line)
  if (all.length > most) lines.push({ kind: 'note', text: `... ${all.length - most} more lines` })
  lines.push({ kind: 'output', text: '' })
}
function wrap(line) {
  for (let rest = line; ;) {
    const last = Math.max(rest.lastIndexOf(' ', WIDTH), rest.lastIndexOf(',', WIDTH - 1) + 1)
    const at = rest.length <= WIDTH ? rest.length : last > 0 ? last : WIDTH
    lines.push({ kind: 'output', text: rest.slice(0, at) })
    rest = rest.slice(at).trimStart()
    if (rest === '') return
  }
}

const ports = { http: String(await freePort()), grpc: String(await freePort()) }
const folder = mkdtempSync(join(tmpdir(), 'ashlar-recording-'))
const made = await run(process.execPath, [join(here, '../bin/ashlar.js'), ...NEW], { cwd: folder })
show(`npx ashlar ${NEW.join(' ')}`, made.stdout, 6)
rmSync(folder, { recursive: true })

const project = await linkedProject('shop', NEW.slice(2))
const env = {
  ...project.env,
  GRPC_ADDR: `127.0.0.1:${ports.grpc}`,
  HTTP_ADDR: `127.0.0.1:${ports.http}`,
}
const development = spawn('ashlar', ['dev'], { cwd: project.folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
let said = ''
await new Promise((resolve, reject) => {
  for (const stream of [development.stdout, development.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      said += text
      if (/ready after .*\n/.test(said)) resolve()
    })
  development.once('exit', (exit) => reject(new Error(`ashlar dev ended with ${exit}: ${said}`)))
})
show('cd shop && npm install && npm run dev', said.slice(said.search(/^.*gRPC on/m)), 2)

const curl = async (tenant, ...rest) => {
  const identity = ['-H', `account-id: ${tenant}`, '-H', 'subject: ada', '-H', 'groups: staff']
  const { stdout } = await run('curl', ['-s', '-w', '\n%{http_code}', ...identity, ...rest])
  const [status, ...body] = stdout.split('\n').toReversed()
  return `${body.toReversed().join('\n')}\n${status}`
}
const url = `http://127.0.0.1:${ports.http}/v1/projects`
const json = ['-H', 'content-type: application/json']
show(
  `curl -w '\\n%{http_code}' localhost:8080/v1/projects?project_id=apollo -d '{"title":"Apollo"}' \\
-H 'account-id: acme' -H 'subject: ada' -H 'groups: staff' -H 'content-type: application/json'`,
  await curl('acme', ...json, '-d', '{"title":"Apollo"}', `${url}?project_id=apollo`),
)
show(
  `curl -w '\\n%{http_code}' localhost:8080/v1/projects/apollo \\
-H 'account-id: globex' -H 'subject: ada' -H 'groups: staff'`,
  await curl('globex', `${url}/apollo`),
)
development.removeAllListeners('exit').kill('SIGTERM')

const checked = await run('ashlar', ['security-check', 'dist/src/server.js'], {
  cwd: project.folder,
  env: { ...project.env, ASHLAR_DATABASE_URL: ':memory:' },
})
show('ASHLAR_DATABASE_URL=:memory: npx ashlar security-check dist/src/server.js', checked.stdout, 12)
lines.pop()
rmSync(dirname(project.folder), { recursive: true, force: true })

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
const [LINE, TOP, LEFT, SECONDS] = [20, 52, 20, 0.15]
const COLOURS = {
  light: { back: '#ffffff', frame: '#d0d7de', output: '#1f2328', command: '#0550ae', note: '#59636e' },
  dark: { back: '#0d1117', frame: '#30363d', output: '#e6edf3', command: '#79c0ff', note: '#9198a1' },
}
for (const [theme, colour] of Object.entries(COLOURS)) {
  const height = TOP + lines.length * LINE + 8
  const texts = lines.flatMap(({ kind, text }, at) =>
    text === ''
      ? []
      : [
          `<text class="${kind}" x="${LEFT}" y="${TOP + at * LINE}" style="animation-delay:${(at * SECONDS).toFixed(2)}s">${escaped(text)}</text>`,
        ],
  )
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 920 ${height}" role="img" aria-label="A terminal: a new project is written and started, a resource is created, another tenant gets a 404, and the security check passes.">
<style>
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; white-space: pre; fill: ${colour.output} }
.command { fill: ${colour.command}; font-weight: 600 }
.note { fill: ${colour.note} }
@media (prefers-reduced-motion: no-preference) { text { animation: appear 0.1s backwards } }
@keyframes appear { from { opacity: 0 } }
</style>
<rect x="0.5" y="0.5" width="919" height="${height - 1}" rx="8" fill="${colour.back}" stroke="${colour.frame}"/>
<g fill="${colour.frame}"><circle cx="22" cy="20" r="6"/><circle cx="42" cy="20" r="6"/><circle cx="62" cy="20" r="6"/></g>
${texts.join('\n')}
</svg>
`
  writeFileSync(join(here, `guides/pictures/first-minute-${theme}.svg`), svg)
}
console.log(lines.map(({ text }) => text).join('\n'))
process.exit()
