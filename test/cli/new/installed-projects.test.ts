import { expect } from 'chai'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { drilling } from '../../support/drill.js'
import { hasBuf } from '../../support/projects/linked-project.js'
import { compiled, root } from '../../support/root.js'
import { type Service, serviceUrl } from '../../support/running/services.js'

const DATABASES: readonly { readonly database: string; readonly service?: Service }[] = [
  { database: 'sqlite' },
  { database: 'postgres', service: 'postgres' },
  { database: 'mysql', service: 'mysql' },
]
/** Each database with each kind of project, and each way of saying who calls with each of both. */
const PROJECTS = DATABASES.flatMap(({ database, service }) =>
  ['--nest', '--no-nest'].flatMap((kind) =>
    ['headers', 'oidc'].map((auth) => ({ service, choices: ['--database', database, kind, '--auth', auth] })),
  ),
)

describe('projects with packages that npm installs', function () {
  this.timeout(600_000)
  let folder: string
  let tarballs: Readonly<Record<string, string>>

  before(function () {
    if (!drilling || !hasBuf || basename(compiled) !== 'dist') this.skip()
    folder = mkdtempSync(join(tmpdir(), 'ashlar-installed-'))
    const packed = run(
      ...[root, 'npm', 'pack', '--ignore-scripts', '--json', '--pack-destination', folder],
      ...['--workspaces', '--include-workspace-root'],
    )
    const all = Object.values(JSON.parse(packed) as Record<string, { name: string; filename: string }>)
    tarballs = Object.fromEntries(all.map(({ name, filename }) => [name, `file:${join(folder, filename)}`]))
  })
  after(() => {
    if (drilling) rmSync(folder, { recursive: true, force: true })
  })

  for (const { service, choices } of PROJECTS)
    it(`compile, start and pass their tests: ashlar new ${choices.join(' ')}`, function () {
      const url = service === undefined ? undefined : serviceUrl(service)
      if (service !== undefined && url === undefined) this.skip()
      const env = { ...process.env, ...(url !== undefined && { ASHLAR_DATABASE_URL: url }) }
      const project = join(
        folder,
        choices
          .filter((choice) => !choice.startsWith('--data'))
          .join('')
          .replaceAll(/\W+/g, ''),
      )
      run(folder, process.execPath, join(root, 'bin/ashlar.js'), 'new', project, '--name', 'shop', ...choices)

      const manifest = join(project, 'package.json')
      const written = JSON.parse(readFileSync(manifest, 'utf8')) as { dependencies: Record<string, string> }
      const dependencies = { ...written.dependencies, ...tarballs }
      writeFileSync(manifest, JSON.stringify({ ...written, dependencies }))
      run(project, 'npm', 'install', '--prefer-offline', '--no-audit', '--no-fund')
      expect(runWith(env, project, 'npm', 'test')).to.match(/^# fail 0$/m)

      const fields = 'title:string! due:timestamp? state:enum(OPEN,DONE) price:double tags:string[]'
      runWith(
        env,
        project,
        'npx',
        'ashlar',
        'generate',
        'resource',
        'Task',
        '--parent',
        'Project',
        '--fields',
        fields,
      )
      expect(runWith(env, project, 'npm', 'test')).to.match(/^# fail 0$/m)
      runWith(
        env,
        project,
        'npx',
        'ashlar',
        'generate',
        'resource',
        'Task',
        '--fields',
        'size:int32 note:text?',
      )
      expect(runWith(env, project, 'npm', 'test')).to.match(/^# fail 0$/m)
      rmSync(project, { recursive: true })
    })
})

const run = (cwd: string, command: string, ...args: readonly string[]): string =>
  runWith(process.env, cwd, command, ...args)

const runWith = (
  env: NodeJS.ProcessEnv,
  cwd: string,
  command: string,
  ...args: readonly string[]
): string => {
  const { NODE_ENV: _, NODE_OPTIONS: __, ...rest } = env
  return execFileSync(command, [...args], {
    cwd,
    env: rest,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}
