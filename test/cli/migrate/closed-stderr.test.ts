import { expect } from 'chai'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onEachEngine } from '../../migrations/each-engine.js'
import { runCli, type RunOptions } from '../../support/run-cli.js'

/** Ways in which nobody reads what a command says of its progress. */
const UNREAD: readonly (readonly [what: string, options: RunOptions])[] = [
  ['whose reader has gone', { started: (child) => child.stderr?.destroy() }],
  ['that is closed', { under: ['sh', '-c', 'exec "$@" 2>&-', 'sh'] }],
  ['that is full', { under: ['sh', '-c', 'exec "$@" 2>/dev/full', 'sh'] }],
]

onEachEngine('ashlar migrate with an stderr', (database, dialect) => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ashlar-closed-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  const write = (name: string, sql: string) => {
    writeFileSync(join(folder, `${name}.up.sql`), sql)
    writeFileSync(join(folder, `${name}.down.sql`), 'SELECT 1')
  }
  const up = (options: RunOptions) =>
    runCli('ashlar', ['migrate', 'up', '--files', folder, '--json'], {
      env: { ASHLAR_DATABASE_URL: database().url },
      ...options,
    })
  const pause = dialect === 'postgres' ? 'SELECT pg_sleep(0.2)' : 'SELECT sleep(0.2)'

  for (const [what, options] of UNREAD) {
    it(`${what} applies every file`, async () => {
      for (const number of [2, 3, 4]) write(`000${number}_t`, `CREATE TABLE t${number} (id int); ${pause}`)
      const { exit, stdout } = await up(options)
      expect(exit).to.equal(0)
      expect(JSON.parse(stdout)).to.deep.include({ applied: ['0002_t', '0003_t', '0004_t'] })
      expect(await database().tables()).to.include.members(['t2', 't3', 't4'])
    })

    it(`${what} ends with the status of what failed`, async () => {
      write('0002_t', `CREATE TABLE t2 (id int); ${pause}`)
      write('0003_wrong', 'DROP TABLE nowhere')
      expect((await up(options)).exit).to.equal(6)
      expect(await database().rows('SELECT version FROM ashlar_migrations WHERE dirty')).to.have.lengthOf(1)
    })
  }
})
