import { expect } from 'chai'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Rollout } from '../../../cli/migrate/rollout/rollout.js'
import { onEachEngine } from '../../migrations/each-engine.js'
import { drill } from '../../support/drill.js'
import { compiled } from '../../support/root.js'
import { jsonOf, runCommand } from '../../support/run-command.js'

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
    const both = await rollout(NEW, NEW, SECONDS, '--json')
    expect(both.exit, both.stdout).to.equal(0)
    expect(jsonOf<Rollout>(both).applied).to.not.deep.equal([])
    expect(jsonOf<Rollout>(both).failures).to.deep.equal([])
    await done('verify', '--entities', AFTER)

    const again = await rollout(NEW, NEW, '1', '--json')
    expect(again.exit, again.stdout).to.equal(0)
    expect(jsonOf(again)).to.deep.include({ applied: [], failures: [] })
  })

  it('needs --yes where nobody can be asked', async () => {
    await done('new', 'tasks', '--entities', BEFORE)
    const { exit, stderr } = await run('try-rollout', '--old', 'true', '--new', 'true', '--load', LOAD)
    expect(exit).to.equal(2)
    const asked = new RegExp(`--yes\\b.* ${database().name} .*\\b0002_tasks\\b.*\\n$`)
    expect(stderr).to.match(asked)
    const tried = await run('dry-run')
    expect(tried.exit).to.equal(2)
    expect(tried.stderr).to.match(asked)
  })

  it('says what the copy has where the new image does not start', async () => {
    await done('new', 'tasks', '--entities', BEFORE)
    await done('up')
    await done('new', 'next', '--entities', AFTER)
    const { exit, stderr } = await rollout(OLD, "printf '%s image' says >&2; exit 4", SECONDS)
    expect(exit).to.equal(1)
    expect(stderr).to.match(/\bexit 4; .*\b0003_next\S*/)
    expect(stderr).to.not.include('says image')
    const logs = /output is in (\S+);/.exec(stderr)?.[1] ?? ''
    expect(readFileSync(join(logs, 'new.log'), 'utf8')).to.equal('says image')
    rmSync(logs, { recursive: true })
  })

  it('counts the calls that a contract breaks while the old image runs', async () => {
    await done('new', 'tasks', '--entities', BEFORE)
    await done('up')
    writeFileSync(
      join(folder, 'migrations', database().dialect, '0003_end.up.sql'),
      '-- ashlar:allow ban-drop-column\nALTER TABLE tasks DROP COLUMN colour;\n',
    )
    writeFileSync(join(folder, 'migrations', database().dialect, '0003_end.down.sql'), '-- it is gone\n')
    const ran = await rollout(OLD, OLD, '1', '--json')
    expect(ran.exit).to.equal(1)
    const { failures, calls, logs = '' } = jsonOf<Rollout>(ran)
    expect(readdirSync(logs).sort()).to.deep.equal(['new.log', 'old.log'])
    rmSync(logs, { recursive: true })
    expect(failures.map(({ phase, image }) => [phase, image])).to.deep.include(['both images', 'old'])
    expect(failures.reduce((sum, { count }) => sum + count, 0)).to.be.within(1, calls)
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
    expect(other.stderr).to.include('export default async (url, { image, worker })')
    const ended = await run('--old', 'exit 3', '--new', 'true', '--load', LOAD, '--yes')
    expect(ended.exit).to.equal(1)
    expect(ended.stderr).to.match(/\bexit 3\b/)
  })
})
