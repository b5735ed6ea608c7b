import { expect } from 'chai'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SENDS_PROBLEMS, startProblemLines, startProblemsIn } from '../../../cli/dev/start-problems.js'
import { paintFor } from '../../../cli/output/paint.js'
import { inEntity, propertyProblem, problem } from '../../../lib/errors.js'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

const PLAIN = paintFor({})

const SOURCE = `@Resource()
export class TaskGroup {
  title!: string
}

@Resource()
export class Task {
  @ManyToOne(() => Project)
  project!: Project
  @Column() title!: string
}
`

describe('why a service does not start', () => {
  let folder: string
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'ashlar-start-'))
    mkdirSync(join(folder, 'src/tasks'), { recursive: true })
    writeFileSync(join(folder, 'src/tasks/task.ts'), SOURCE)
  })
  after(() => rmSync(folder, { recursive: true }))

  const shown = (subject: string, ...values: ReturnType<typeof problem>[]) =>
    startProblemLines({ subject, values }, folder, PLAIN)

  it('is shown at the property, or at the class', () => {
    const title = propertyProblem('column', 'title', 'title is int32', 'declare it as number')
    const project = propertyProblem('relation', 'project', 'project has no class')
    const key = problem('entity', 'it needs a key')
    expect(shown('Task', ...inEntity({ name: 'Task' }, [title, project, key]))).to.deep.equal([
      'src/tasks/task.ts:10:13 title is int32: declare it as number',
      '  10 |   @Column() title!: string',
      '     |             ^',
      'src/tasks/task.ts:9:3 project has no class',
      '  9 |   project!: Project',
      '    |   ^',
      'src/tasks/task.ts:7:14 it needs a key',
      '  7 | export class Task {',
      '    |              ^',
    ])
  })

  it('is shown with its subject where there is no such class, and without one', () => {
    expect(
      shown('Other', ...inEntity({ name: 'Other' }, [problem('entity', 'it needs a key')])),
    ).to.deep.equal(['Other: it needs a key'])
    expect(shown('server', problem('option', 'grpcAddr is empty', 'give one'))).to.deep.equal([
      'server: grpcAddr is empty: give one',
    ])
  })

  const run = async (module: string) => {
    const args = ['--import', SENDS_PROBLEMS, '--input-type=module', '--eval', module]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
    const messages: unknown[] = []
    child.on('message', (message) => messages.push(message))
    const ended = once(child, 'close') as Promise<[number]>
    const [[status], stderr] = await Promise.all([ended, text(child.stderr as never)])
    return { status, messages, stderr }
  }

  it('is sent by the process that ends, which prints other errors as Node does', async () => {
    const values = [{ kind: 'option', rule: 'a', text: 'a' }]
    const sent = await run(
      `throw Object.assign(new TypeError('x'), { subject: 'server', values: ${JSON.stringify(values)} })`,
    )
    expect([sent.status, sent.stderr, sent.messages.map(startProblemsIn)]).to.deep.equal([
      1,
      '',
      [{ subject: 'server', values }],
    ])
    const other = await run("throw new Error('not today')")
    expect([other.status, other.messages]).to.deep.equal([1, []])
    expect(other.stderr).to.match(/Error: not today\n {4}at [^]*Node\.js v/)
  })
})
