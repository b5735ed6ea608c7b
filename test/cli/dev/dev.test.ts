import { expect } from 'chai'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { freePort } from '../../support/free-port.js'
import { hasBuf, type LinkedProject, linkedProject } from '../../support/projects/linked-project.js'
import { compiled } from '../../support/root.js'
import { until } from '../../support/until.js'

const HEADERS = { 'account-id': 'acme', subject: 'ada', groups: 'staff', 'content-type': 'application/json' }

const DEV = ['node_modules/.bin/ashlar', 'dev']
/** The processes that a process has started, and those that they have. */
const startedBy = (pid: number): readonly number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .split(' ')
    .filter((child) => child !== '')
    .flatMap((child) => [Number(child), ...startedBy(Number(child))])
const isRunning = (pid: number): boolean =>
  existsSync(`/proc/${pid}/stat`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))

describe('ashlar dev', function () {
  let project: LinkedProject
  let child: ChildProcess
  let ended: Promise<unknown[]>
  let said = ''
  let wake: () => void = () => undefined
  let url: string
  let start: (...command: readonly string[]) => void

  /** Resolves when something was printed that was not there before, and returns all that came until then. */
  const printed = async (pattern: RegExp): Promise<string> => {
    for (;;) {
      const found = pattern.exec(said)
      if (found !== null) {
        const until = said.slice(0, found.index + found[0].length)
        said = said.slice(until.length)
        return until
      }
      if (child.exitCode !== null) throw new Error(`it ended: ${said}`)
      await Promise.race([new Promise<void>((resolve) => (wake = resolve)), ended])
    }
  }
  const change = (path: string, from: string, to: string): void => {
    const file = join(project.folder, path)
    const text = readFileSync(file, 'utf8')
    expect(text, path).to.include(from)
    writeFileSync(file, text.replace(from, to))
  }
  const call = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: HEADERS,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }

  before(async function () {
    if (!hasBuf || basename(compiled) !== 'dist') this.skip()
    const httpAddr = `:${await freePort()}`
    url = `http://localhost${httpAddr}`
    project = await linkedProject('shop', ['--database', 'sqlite'])
    start = (...command) => {
      said = ''
      child = spawn(command[0] ?? '', command.slice(1), {
        cwd: project.folder,
        env: { ...project.env, HTTP_ADDR: httpAddr, GRPC_ADDR: '127.0.0.1:0', npm_lifecycle_event: 'dev' },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      ended = once(child, 'exit')
      for (const stream of [child.stdout, child.stderr])
        stream?.setEncoding('utf8').on('data', (text: string) => {
          said += text
          wake()
        })
    }
    start(process.execPath, ...DEV)
  })
  after(async () => {
    if (child.exitCode === null) child.kill('SIGKILL')
    await ended
    rmSync(dirname(project.folder), { recursive: true, force: true })
  })

  it('generates, compiles and starts, and serves the page for trying requests', async () => {
    const text = await printed(/ready after [\d.]+ s: (\S+)/)
    expect(text).to.include('generated src/gen/shop/v1/project_pb.ts')
    expect(text).to.match(
      /Project: resource project, table projects, message shop\.v1\.Project\n {2}fields +name, /,
    )
    expect(text).to.include(`${url}/docs`)
    expect((await fetch(`${url}/docs`)).status).to.equal(200)
    expect((await call('POST', '/v1/projects?project_id=apollo', { title: 'Apollo' })).status).to.equal(200)
  })

  it('starts again after a change of TypeScript, with the data', async () => {
    change('src/projects/project-repository.ts', 'is archived already', 'has ended')
    const text = await printed(/ready after [\d.]+ s/)
    expect(text).to.include('changed src/projects/project-repository.ts')
    expect((await call('POST', '/v1/projects/apollo:archive', {})).status).to.equal(200)
    const { body } = await call('POST', '/v1/projects/apollo:archive', {})
    expect(body['message']).to.include('has ended')
  })

  it('generates and starts again after a change of a .proto, and the table gets the column', async () => {
    change('proto/shop/v1/project.proto', '  // Changes by', '  int32 size = 7;\n  // Changes by')
    expect(await printed(/generated src\/gen\/shop\/v1\/project_pb\.ts/)).to.include(
      'changed proto/shop/v1/project.proto',
    )
    change('src/projects/project.ts', '  @CreateTime()', '  @Column() size!: number\n  @CreateTime()')
    await printed(/changed src\/projects\/project\.ts[^]*ready after/)
    const { body } = await call('PATCH', '/v1/projects/apollo?update_mask=size', { size: 3 })
    expect([body['title'], body['size']]).to.deep.equal(['Apollo', 3])
  })

  it('shows mistakes in place, and goes on as it was until they are gone', async () => {
    change('src/projects/project-repository.ts', 'archive(id: string,', 'archive(id: strung,')
    const text = await printed(/1 error; the last working build keeps running/)
    expect(text).to.match(
      /src\/projects\/project-repository\.ts:9:15 TS2552: Cannot find name 'strung'[^]*\n {2}9 \| +archive\(id: strung,[^\n]*\n {4}\| +\^/,
    )
    change('proto/shop/v1/project.proto', 'int32 size = 7;', 'int32 size = 6;')
    expect(await printed(/errors?; the last working build keeps running/)).to.match(
      /proto\/shop\/v1\/project\.proto:\d+:\d+ .*6[^]*\| +\^/,
    )
    expect((await call('GET', '/v1/projects/apollo')).status).to.equal(200)
    change('proto/shop/v1/project.proto', 'int32 size = 6;', 'int32 size = 7;')
    change('src/projects/project-repository.ts', 'archive(id: strung,', 'archive(id: string,')
    await printed(/ready after/)
  })

  it('says that the service ended by itself, and starts it again', async () => {
    change(
      'src/main.ts',
      'const stop =',
      "if (process.argv.length > 0) throw new Error('not today')\nconst stop =",
    )
    const text = await printed(/the service ended with 1; it starts again after the next change/)
    expect(text).to.match(/src\/main\.ts:\d+[^]*not today/)
    change('src/main.ts', "if (process.argv.length > 0) throw new Error('not today')\n", '')
    await printed(/ready after/)
  })

  it('shows what the framework refuses at its line of the source', async () => {
    change('src/projects/project.ts', '  @Column() size!: number', '  @Column() size!: string')
    const text = await printed(/the service ended with 1/)
    expect(text).to.match(/src\/projects\/project\.ts:\d+:13 size\b[^]*\| {3}@Column\(\) size!: string/)
    change('src/projects/project.ts', '  @Column() size!: string', '  @Column() size!: number')
    await printed(/ready after/)
  })

  it('leaves the service alone when only tests change', async () => {
    change('test/projects.test.ts', 'need a title', 'need titles')
    await printed(/only tests changed/)
    expect((await call('GET', '/v1/projects/apollo')).status).to.equal(200)
  })

  it('takes what ashlar generate writes at once, without mistakes that nobody made', async () => {
    const { exit, stderr } = await project.ashlar('generate', 'resource', 'Task', '--fields', 'title:string!')
    expect([exit, stderr]).to.deep.equal([0, ''])
    const text = await printed(/ready after/)
    expect(text, text).to.not.match(/\berrors?\b/)
    expect((await call('POST', '/v1/tasks', { title: 'Land' })).status).to.equal(200)
  })

  it('ends with the service', async () => {
    child.kill('SIGINT')
    expect((await ended)[0]).to.equal(130)
    expect(
      await fetch(url).then(
        () => 'served',
        () => 'gone',
      ),
    ).to.equal('gone')
  })

  for (const [what, command] of [
    ['it is killed', [process.execPath, ...DEV]],
    ['what npm starts it with is killed', ['sh', '-c', `${process.execPath} ${DEV.join(' ')}; exit`]],
  ] as const)
    it(`leaves no process behind when ${what}`, async () => {
      if (child.exitCode === null) child.kill('SIGINT')
      await ended
      start(...command)
      await printed(/ready after/)
      const all = startedBy(child.pid ?? 0)
      // The compiler, the service, and `ashlar dev` where a shell is around it.
      expect(all.length).to.be.at.least(command[0] === 'sh' ? 3 : 2)
      child.kill('SIGKILL')
      await ended
      await until(() => !all.some(isRunning))
    })
})
