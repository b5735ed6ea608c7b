import { expect } from 'chai'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Rollout } from '../../../cli/migrate/rollout/rollout.js'
import { onEachEngine } from '../../migrations/each-engine.js'
import { drill } from '../../support/drill.js'
import { compiled } from '../../support/root.js'
import { runCommand } from '../../support/run-command.js'

const host = (name: string) => join(compiled, 'test', 'cli', 'migrate', 'hosts', `${name}.js`)
const [BEFORE, AFTER, LOAD] = [host('before'), host('after'), host('load')]
const SECONDS = String(drill(1, 20))

const imageOf = (entities: string, values: object): string =>
  [process.execPath, host('image'), entities, JSON.stringify(values)].map((word) => `'${word}'`).join(' ')
const OLD = imageOf(BEFORE, { title: 'build', colour: 'red' })
const NEW = imageOf(AFTER, { displayName: 'ship', priority: 1 })

onEachEngine('ashlar migrate try-rollout', (database) => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ashlar-rollout-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  const run = (...args: readonly string[]) =>
    runCommand(['migrate', ...args], { cwd: folder, env: { ASHLAR_DATABASE_URL: database().url } })
  const done = async (...args: readonly string[]) => {
    const ran = await run(...args)
    expect(ran.exit, `${args.join(' ')}: ${ran.stdout}${ran.stderr}`).to.equal(0)
    return ran.stdout
  }
  const rollout = (old: string, next: string, seconds: string, ...args: readonly string[]) =>
    run('try-rollout', '--old', old, '--new', next, '--load', LOAD, '--seconds', seconds, '--yes', ...args)

  it('loses no call while a version expands, and none when the contract follows with the next one', async () => {
    await done('new', 'tasks', '--entities', BEFORE)
    await done('up')
    await done('new', 'next', '--entities', AFTER)
    const first = await rollout(OLD, NEW, SECONDS, '--json')
    const { failures, phases, calls, applied } = JSON.parse(first.stdout) as Rollout
    expect(failures).to.deep.equal([])
    expect(first.exit, first.stderr).to.equal(0)
    expect(applied.length).to.be.greaterThan(1)
    expect(
      phases.map(({ name, images }) => [name, images.map(({ image }) => image).sort()]),
    ).to.deep.include.members([
      ['the old image alone', ['old']],
      ['both images', ['new', 'old']],
      ['the new image alone', ['new']],
    ])
    process.stdout.write(`      expand: ${calls} calls, ${failures.length} failed\n`)

    await done('diff', 'end', '--entities', AFTER, '--contract')
    const both = await rollout(NEW, NEW, SECONDS)
    expect(both.exit, both.stdout).to.equal(0)
    expect(both.stdout).to.match(
      /\n0 of \d+ calls failed\nNext: ashlar migrate up, on the database itself\n$/,
    )
    await done('verify', '--entities', AFTER)

    const again = await rollout(NEW, NEW, '1')
    expect(again.exit, again.stdout).to.equal(0)
    expect(again.stdout).to.match(
      /\n0 of \d+ calls failed\nno version was tried: the database had every version of these files before, so that both images ran on the schema as it was\. To try versions, restore the copy from before them and run again\n$/,
    )
  })

  it('needs --yes where nobody can be asked', async () => {
    await done('new', 'tasks', '--entities', BEFORE)
    const { exit, stderr } = await run('try-rollout', '--old', 'true', '--new', 'true', '--load', LOAD)
    expect(exit).to.equal(2)
    expect(stderr).to.match(
      /--yes confirms it\. Database \S+ on [^ ]+(?:, schema public)?: This applies 0002_tasks to it and lets both images write to it, so it has to be a copy\.\n$/,
    )
    const { stderr: tried } = await run('dry-run')
    expect(tried).to.match(
      /Database \S+ on [^ ]+(?:, schema public)?: This applies 0002_tasks to it, so it has to be a copy\.\n$/,
    )
  })

  it('says what the copy has where the new image does not start', async () => {
    await done('new', 'tasks', '--entities', BEFORE)
    await done('up')
    await done('new', 'next', '--entities', AFTER)
    const { exit, stderr } = await rollout(OLD, 'exit 4', SECONDS)
    expect(exit).to.equal(1)
    expect(stderr).to.match(
      /the new image ended by itself \(exit status 4\): exit 4; the copy has 0003_next\S*.* now\n$/,
    )
  })

  it('counts the calls that a contract breaks while the old image runs', async () => {
    await done('new', 'tasks', '--entities', BEFORE)
    await done('up')
    writeFileSync(
      join(folder, 'migrations', database().dialect, '0003_end.up.sql'),
      '-- ashlar:allow ban-drop-column\nALTER TABLE tasks DROP COLUMN colour;\n',
    )
    writeFileSync(join(folder, 'migrations', database().dialect, '0003_end.down.sql'), '-- it is gone\n')
    const { exit, stdout } = await rollout(OLD, OLD, '1')
    expect(exit).to.equal(1)
    expect(stdout).to.match(/\n\d+ calls of the old image failed in "both images": /)
    const [, failed = '', all = ''] = /\n([1-9]\d*) of (\d+) calls failed\n$/.exec(stdout) ?? []
    expect(Number(failed)).to.be.within(1, Number(all))
  })
})

describe('ashlar migrate try-rollout', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ashlar-rollout-'))
  after(() => rmSync(folder, { recursive: true }))
  const run = (...args: readonly string[]) =>
    runCommand(['migrate', 'try-rollout', '--url', 'postgres://127.0.0.1:1/none', ...args], { cwd: folder })

  it('says that a module makes no calls, and that an image ends', async () => {
    const other = await run('--old', 'true', '--new', 'true', '--load', BEFORE, '--yes')
    expect(other.exit).to.equal(2)
    expect(other.stderr).to.include(
      'has no function as its default export: export default async (url, { image, worker })',
    )
    const ended = await run('--old', 'exit 3', '--new', 'true', '--load', LOAD, '--yes')
    expect(ended.exit).to.equal(1)
    expect(ended.stderr).to.include(
      'the old image ended by itself (exit status 3): exit 3; nothing was applied to the copy',
    )
  })
})
