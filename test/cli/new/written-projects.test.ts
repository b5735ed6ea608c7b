import { createClient } from '@connectrpc/connect'
import { createConnectTransport } from '@connectrpc/connect-web'
import type { DescService } from '@bufbuild/protobuf'
import { expect } from 'chai'
import { execFileSync, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createChannel, createClient as grpcClient, Metadata } from 'nice-grpc'
import { basename, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { definitionOf } from '../../../lib/index.js'
import { askedBackends } from '../../support/running/asked.js'
import { serviceUrl } from '../../support/running/services.js'
import { drilling } from '../../support/drill.js'
import { testDatabase, type TestDatabase } from '../../support/databases/test-database.js'
import { bundledPackage } from '../../support/projects/bundled-package.js'
import { hasBuf, type LinkedProject, linkedProject } from '../../support/projects/linked-project.js'
import { startedProject } from '../../support/projects/started-project.js'
import { runCli } from '../../support/run-cli.js'
import { compiled, root } from '../../support/root.js'
import { blocksOf } from '../../support/sources/documents.js'

/** Each choice once. The drill has all of them, with packages that are installed. */
const PROJECTS = [
  { backend: 'sqlite', choices: ['--database', 'sqlite', '--no-nest', '--auth', 'headers'] },
  { backend: 'postgres', choices: ['--database', 'postgres', '--nest', '--auth', 'oidc'] },
] as const

const HEADERS = { 'account-id': 'acme', subject: 'ada', groups: 'staff' }

/** The address of a deployed page, as people write it. */
const PUBLIC_URL = 'https://shop.example.com/'

/** What each way to authenticate needs before a deployed service starts. */
const DEPLOYED = [
  { authentication: 'headers', environments: [{}], isPossible: false },
  { authentication: 'oidc', environments: [{}], isPossible: true },
  {
    authentication: 'dev-login',
    environments: [
      ...[{}, { OIDC_CLIENT_SECRET: 'own' }, { PUBLIC_URL }, { OIDC_CLIENT_SECRET: 'own' }],
      { PUBLIC_URL, OIDC_CLIENT_SECRET: 'dev-secret-shop' },
    ],
    isPossible: true,
  },
] as const

for (const { authentication, environments, isPossible } of DEPLOYED)
  it(`a project with --auth ${authentication} accepts no development secret and no header identity in production`, async function () {
    if (!hasBuf || basename(compiled) !== 'dist') this.skip()
    const choices = ['--database', 'sqlite', '--no-nest', '--auth', authentication]
    const project = await linkedProject('shop', choices)
    try {
      expect(project.build()).to.deep.equal([])
      const starts = (env: NodeJS.ProcessEnv) =>
        spawnSync(process.execPath, ['dist/src/access.js'], {
          cwd: project.folder,
          env: { ...project.env, ...env },
          encoding: 'utf8',
        })
      expect(starts({ NODE_ENV: 'development' }).status).to.equal(0)
      environments.forEach((env, index) => {
        // The last ones name a provider.
        const issuer = index >= 2 && { OIDC_ISSUER: 'https://login.example.com' }
        const { status, stderr } = starts({ NODE_ENV: 'production', ...issuer, ...env })
        expect(status).to.equal(1)
        expect(stderr).to.include('NODE_ENV is production')
      })
      const settings = { OIDC_ISSUER: 'https://login.example.com', OIDC_CLIENT_SECRET: 'own', PUBLIC_URL }
      expect(starts({ NODE_ENV: 'production', ...settings }).status === 0).to.equal(isPossible)
      const compose = readFileSync(join(project.folder, 'compose.yaml'), 'utf8')
      expect(compose).to.match(/ports: \['127\.0\.0\.1:\d+:\d+', '127\.0\.0\.1:9090:9090'\]/)
    } finally {
      rmSync(dirname(project.folder), { recursive: true, force: true })
    }
  })

for (const { backend, choices } of PROJECTS)
  describe(`a project of ashlar new ${choices.join(' ')}`, () => {
    let project: LinkedProject
    let database: TestDatabase | undefined

    before(async function () {
      const asked = askedBackends()
      if (!hasBuf || basename(compiled) !== 'dist' || (asked !== undefined && !asked.includes(backend)))
        this.skip()
      if (backend === 'postgres') {
        if (serviceUrl('postgres') === undefined) this.skip()
        database = await testDatabase('postgres')
      }
      project = await linkedProject('shop', choices, database && { ASHLAR_DATABASE_URL: database.url })
    })
    after(async () => {
      await database?.drop()
      if (project !== undefined) rmSync(dirname(project.folder), { recursive: true, force: true })
    })

    it('gets a resource', async () => {
      const { exit, stdout, stderr } = await project.ashlar(
        ...['generate', 'resource', 'Task', '--parent', 'project'],
        ...['--fields', 'title:string! due:timestamp? state:enum(OPEN,DONE)'],
      )
      expect([exit, stderr]).to.deep.equal([0, ''])
      expect(stdout).to.include('written proto/shop/v1/task.proto')
      if (backend === 'postgres') expect(stdout).to.include('written migrations/postgres/0003_task.up.sql')
    })

    it('compiles where the parent refers to what is in it', () => {
      const path = join(project.folder, 'src/projects/project.ts')
      const text = readFileSync(path, 'utf8')
        .replace(
          '{ Column, Entity, PrimaryColumn }',
          '{ Column, Entity, OneToMany, PrimaryColumn, type Relation }',
        )
        .replace('/** `projects', "import { Task } from '../tasks/task.js'\n\n/** `projects")
        .replace(
          '  accountId',
          '  @OneToMany(() => Task, ({ project }) => project) tasks?: Relation<Task>[]\n\n  accountId',
        )
      writeFileSync(path, text)
      expect(project.build()).to.deep.equal([])
      // In a process of its own: this one keeps modules, and the project changes.
      execFileSync(process.execPath, ['dist/src/entities.js'], { cwd: project.folder })
    })

    it('has files of Protocol Buffers that lint finds nothing in', () => {
      // Nor are files of packages linted.
      execFileSync('buf', ['lint'], { cwd: project.folder, env: project.env, stdio: 'inherit' })
    })

    // Those of a project on SQLite run in the page Getting started.
    if (backend === 'postgres' || drilling)
      it('passes its tests', () => {
        // What the compiler made of a test that was deleted.
        writeFileSync(join(project.folder, 'dist/test/old.test.js'), `throw new Error('it is gone')`)
        if (backend === 'postgres') {
          const path = join(project.folder, 'src/projects/project.ts')
          const text = readFileSync(path, 'utf8')
            .replace('Resource, ', 'Resource, Searchable, ')
            .replace('@TenantScoped()\n', "@TenantScoped()\n@Searchable({ strategy: 'INDEXED' })\n")
            .replace('@Column() title', '@Searchable() @Column() title')
          writeFileSync(path, text)
        }
        const output = project.test()
        expect(output).to.match(/^# fail 0$/m)
        expect(Number(/^# pass (\d+)$/m.exec(output)?.[1])).to.be.at.least(8)
        // Written before the tests ran: without its vector an INDEXED resource fails in them.
        if (backend === 'postgres')
          for (const folder of ['generated', 'migrations/postgres'])
            expect(readdirSync(join(project.folder, folder))).to.include.members([
              '9001_projects_search_vector.up.sql',
              '9002_projects_search_gin.down.sql',
            ])
      })

    if (backend === 'sqlite')
      it('is checked by the command of the guide', () => {
        const commands = blocksOf('docs/guides/security-check.md').flatMap(({ text }) =>
          text.split('\n').filter((line) => line.includes('ashlar security-check')),
        )
        expect(commands).to.have.length(1)
        const [command = ''] = commands
        const output = execFileSync('bash', ['-ec', command.replace('npx ', '')], {
          cwd: project.folder,
          env: project.env,
          encoding: 'utf8',
        })
        expect(output).to.match(/^passed: \d+ methods, \d+ calls\n$/)
        const server = readFileSync(join(project.folder, 'src/server.ts'), 'utf8')
        const shown = blocksOf('docs/guides/security-check.md').filter(({ text }) =>
          text.startsWith('export const checked'),
        )
        expect(shown.map(({ text }) => server.includes(`\n${text}\n`))).to.deep.equal([true])
      })

    it('gets fields, which do not change the numbers of others', async () => {
      const { exit, stderr } = await project.ashlar(
        ...[
          'generate',
          'resource',
          'Task',
          '--fields',
          'size:int32 state:enum(OPEN,DONE,LATE)',
          '--remove',
          'due',
        ],
      )
      expect([exit, stderr]).to.satisfy(
        ([code, text]: [number, string]) => code === 0 && !text.includes('ashlar:'),
      )
      const proto = readFileSync(join(project.folder, 'proto/shop/v1/task.proto'), 'utf8')
      for (const line of [
        '  string title = 5 [',
        '  reserved 6;',
        '  reserved "due";',
        '  State state = 7;',
        '  int32 size = 8;',
        '    LATE = 3;',
      ])
        expect(
          proto.split('\n').some((one) => one.startsWith(line)),
          line,
        ).to.equal(true)
      if (backend === 'postgres') {
        const up = readFileSync(join(project.folder, 'migrations/postgres/0004_task_size_due.up.sql'), 'utf8')
        expect(up).to.match(/ALTER TABLE .*"tasks"[^]*ADD COLUMN "size" integer/)
      }
    })

    it('starts, and is called over HTTP/JSON, Connect and gRPC', async () => {
      if (database !== undefined) {
        const { exit, stderr } = await project.ashlar('migrate', 'up')
        expect(exit, stderr).to.equal(0)
      }
      expect(project.build()).to.deep.equal([])
      const started = await startedProject(project)
      const make = (path: string, body: object) =>
        fetch(`${started.url}${path}`, {
          method: 'POST',
          headers: { ...HEADERS, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        })
      expect((await make('/v1/projects?project_id=apollo', { title: 'Apollo' })).status).to.equal(200)
      expect((await make('/v1/projects/apollo/tasks', { title: 'Land', size: 3 })).status).to.equal(200)

      const { TaskService } = (await import(
        pathToFileURL(join(project.folder, 'dist/src/gen/shop/v1/task_pb.js')).href
      )) as { TaskService: DescService }
      const request = { parent: 'projects/apollo' }
      const overConnect = createClient(
        TaskService,
        createConnectTransport({ baseUrl: started.url }),
      ) as unknown as Lister
      const listed = await overConnect.listTasks(request, { headers: HEADERS })
      expect(listed.tasks.map(({ title, size }) => [title, size])).to.deep.equal([['Land', 3]])

      const channel = createChannel(started.grpcAddress)
      const overGrpc = grpcClient(definitionOf(TaskService), channel) as unknown as Lister
      const same = await overGrpc.listTasks(request, { metadata: Metadata(HEADERS) })
      expect(same.tasks.map(({ title }) => title)).to.deep.equal(['Land'])
      channel.close()
      expect((await fetch(`${started.url}/docs`)).status).to.equal(200)
      // Nest ends by the signal itself.
      expect(await started.stop()).to.equal(backend === 'postgres' ? null : 0)
    })

    it('runs a repeated call once, also after a restart', async () => {
      const headers = { ...HEADERS, 'content-type': 'application/json', 'idempotency-key': 'k' }
      const made: [id: unknown, replayed: string | null][] = []
      for (let at = 0; at < 2; at++) {
        const started = await startedProject(project)
        const body = JSON.stringify({ title: 'Gemini' })
        const reply = await fetch(`${started.url}/v1/projects`, { method: 'POST', headers, body })
        const { id, name } = (await reply.json()) as { id?: string; name?: string }
        made.push([id ?? name, reply.headers.get('x-idempotent-replay')])
        await started.stop()
      }
      const [[id] = [undefined]] = made
      expect(id).to.be.a('string')
      expect(made).to.deep.equal([
        [id, null],
        [id, 'true'],
      ])
    })

    if (backend === 'postgres')
      it('checks the schema of a DataSource that follows a file, too', () => {
        const script = `
          import { HotDataSource } from 'ashlar'
          import { dataSourceFor, schemaCheck } from './dist/src/data-source.js'
          const hot = new HotDataSource({ dsn: process.env.ASHLAR_DATABASE_URL, entities: [] })
          for (const dataSource of [hot, dataSourceFor()]) await schemaCheck(dataSource)()`
        execFileSync(process.execPath, ['--input-type=module', '-e', script], {
          cwd: project.folder,
          env: project.env,
        })
      })

    if (backend === 'postgres')
      it('names the commands that write a migration where no database is named', async () => {
        const { PATH } = project.env
        const more = ['generate', 'resource', 'Task', '--fields', 'weight:int32']
        const { exit, stderr } = await runCli('ashlar', more, { cwd: project.folder, env: { PATH } })
        expect(exit, stderr).to.equal(0)
        expect(stderr).to.include(
          'the migration is not written, because ASHLAR_DATABASE_URL is not set. Set it, then run npm run build && npx ashlar migrate diff task_weight --entities dist/src/entities.js',
        )
      })

    if (backend === 'postgres')
      it('has the migrations that ashlar migrate new would write', async () => {
        const entities = (await import(
          pathToFileURL(join(project.folder, 'dist/src/entities.js')).href
        )) as object
        const { tableMigrations } = (await import(
          pathToFileURL(join(await bundledPackage(), 'dist/lib/persistence/index.js')).href
        )) as typeof import('../../../lib/persistence/index.js')
        const projects = tableMigrations({ ...entities }).find(({ table }) => table === 'projects')
        for (const dialect of ['postgres', 'mysql'] as const)
          for (const way of ['up', 'down'] as const) {
            const template = `cli/new/templates/${dialect}/migrations/${dialect}/0002_projects.${way}.sql.tmpl`
            expect(readFileSync(join(root, template), 'utf8')).to.equal(projects?.sqlFor(dialect)[way])
          }
      })
  })

/** A client of either protocol. */
interface Lister {
  listTasks(
    request: { parent: string },
    options: object,
  ): Promise<{ tasks: { title: string; size: number }[] }>
}
