import { expect } from 'chai'
import { file, onEachEngine, tables } from '../../migrations/each-engine.js'
import { operatorFolder } from '../../support/projects/operator-folder.js'

/** Nobody listens there. */
const NOWHERE = '127.0.0.1:1'

onEachEngine('error.problems of ashlar migrate --json', (database, dialect) => {
  const place = operatorFolder(database)
  const { failure, run } = place
  const ship = (files: Readonly<Record<string, string>>) => place.ship(files, 'migrations')
  const server = dialect === 'postgres' ? 'PostgreSQL' : 'MySQL'

  it('has the values of a file that cannot be run', async () => {
    ship({ ...tables(2), ...file('0002_other', 'SELECT 1', '-- nothing') })
    const { exit, problems } = await failure('up')
    expect(exit).to.equal(2)
    expect(problems.map(({ kind, versions }) => [kind, versions])).to.deep.equal([
      ['duplicateNumber', ['0002_other', '0002_t2']],
    ])
  })

  it('has the values of a statement that failed, and of what to do about it', async () => {
    ship({ ...tables(2), ...file('0003_c', 'SELECT 1;\nSELECT nonsense', '-- nothing') })
    const { exit, problems, hasChanged } = await failure('up')
    expect([exit, hasChanged, problems.length]).to.deep.equal([6, true, 1])
    expect(problems[0]).to.deep.include({
      ...{ kind: 'statementFailed', version: '0003_c', file: '0003_c.up.sql', direction: 'up', mend: 'file' },
      place: { statement: 2, of: 2, line: 2 },
      sqlState: dialect === 'postgres' ? '42703' : '1054',
    })
    ship(file('0003_c', 'SELECT * FROM nowhere', '-- nothing'))
    const [missing] = (await failure('up')).problems
    expect(missing?.['advice']).to.deep.equal(
      dialect === 'postgres' ? { kind: 'otherSchema', schema: 'public' } : undefined,
    )
  })

  it('has the values of a server that is not there', async () => {
    ship(tables(2))
    const url = `${dialect}://nobody@${NOWHERE}/none`
    const { exit, problems } = await failure('up', '--url', url)
    expect([exit, problems.length]).to.deep.equal([6, 1])
    expect(problems[0]).to.deep.include({
      kind: 'noConnection',
      server,
      advice: { kind: 'notReached', server },
    })
  })

  it('has the values of an edit, and the names of versions', async () => {
    ship(tables(2))
    expect((await run('up')).exit).to.equal(0)
    ship(file('0002_t2', 'CREATE TABLE t2 (id bigint PRIMARY KEY, more bigint)', 'DROP TABLE t2'))
    const { exit, problems } = await failure('up')
    expect(exit).to.equal(6)
    const [{ files } = {}] = problems as readonly { readonly files?: readonly object[] }[]
    expect(files?.[0]).to.deep.include({ version: '0002_t2', file: '0002_t2.up.sql', isRenamed: false })
  })
})
