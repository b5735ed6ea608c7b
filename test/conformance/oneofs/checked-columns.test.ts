import { expect } from 'chai'
import { migrate } from '../../../lib/migrations/index.js'
import { schemaComparison, schemaModel, type SchemaVersion } from '../../../lib/persistence/index.js'
import { file, onEachEngine } from '../../migrations/each-engine.js'
import { rejection } from '../../support/rejection.js'
import { taskIn } from './oneof-resource.js'

const Tasks = taskIn('oneof_checked')

onEachEngine('a column that a check reads', (database) => {
  let files: Record<string, string>
  beforeEach(() => {
    files = {}
  })
  const migrator = () => migrate({ url: database().url, files })
  const ship = (versions: readonly SchemaVersion[]) => {
    for (const { what, up, down } of versions) {
      const number = String(Object.keys(files).length / 2 + 2).padStart(4, '0')
      Object.assign(files, file(`${number}_${what}`, up, down))
    }
    return migrator().up()
  }
  const changes = async () => (await migrator().diff(schemaModel([Tasks]))).changes
  const setBoth = () =>
    database().rows(
      `INSERT INTO oneof_checked (account_id, id, title, etag, gone, nick) VALUES ('t', '1', 'x', 'e', 1, 'n')`,
    )

  it('is dropped with the check, and restored with it', async () => {
    await ship((await changes()).expand)
    const check = 'CONSTRAINT one_of_two CHECK (gone IS NULL OR nick IS NULL)'
    const up = `ALTER TABLE oneof_checked ADD gone int, ADD ${check}`
    await ship([{ what: 'gone', up, down: 'ALTER TABLE oneof_checked DROP gone' } as SchemaVersion])
    const kept = Object.keys(files).length / 2 + 1
    expect(String(await rejection(setBoth(), Error))).to.include('one_of_two')

    const { contract } = await changes()
    await ship(contract)
    expect((await changes()).contract).to.deep.equal([])
    await migrator().down(kept)
    expect(String(await rejection(setBoth(), Error))).to.include('one_of_two')
  })

  it('is noted if the check of a oneof does not read it', async () => {
    await ship((await changes()).expand)
    const name = 'oneof_checked_contact_oneof'
    await database().rows(`ALTER TABLE oneof_checked DROP CONSTRAINT ${name}`)
    await database().rows(
      `ALTER TABLE oneof_checked ADD CONSTRAINT ${name} CHECK (email IS NULL OR nick IS NULL)`,
    )
    const notes: string[] = []
    await migrator().verify(schemaComparison([Tasks], { note: ({ text }) => notes.push(text) }))
    expect(notes.join()).to.match(/^oneof_checked has the check oneof_checked_contact_oneof without .*seats/)
  })
})
