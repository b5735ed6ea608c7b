import { expect } from 'chai'
import { migrate } from '../../../lib/migrations/index.js'
import { schemaModel, type SchemaVersion } from '../../../lib/persistence/index.js'
import { failureOf, file, onEachEngine } from '../../migrations/each-engine.js'
import { entitiesOf, type Model, type Property } from './random-model.js'

const alpha = (kind: Property['kind'], width: Property['width']): Model => ({
  properties: [{ name: 'alpha', kind, width, nullable: false, hasDefault: false, rule: 'none' }],
  group: 'none',
  softDeletable: false,
  hasEtag: false,
  hasTimes: false,
  owner: 'none',
  hasBaskets: false,
})

onEachEngine('the contract of another type', (database) => {
  const files: Record<string, string> = {}
  beforeEach(() => {
    for (const name of Object.keys(files)) Reflect.deleteProperty(files, name)
  })
  const migrator = () => migrate({ url: database().url, files })
  const ship = (versions: readonly SchemaVersion[]) => {
    for (const { what, up, down } of versions) {
      const number = Object.keys(files).length / 2 + 2
      Object.assign(files, file(`${String(number).padStart(4, '0')}_${what}`, up, down))
    }
    return migrator().up()
  }
  const changes = async (model: Model) => (await migrator().diff(schemaModel(entitiesOf(model)))).changes

  it('cuts no text that is too long for it', async () => {
    await ship((await changes(alpha('text', 1))).expand)
    const long = 'x'.repeat(60)
    await database().rows(`INSERT INTO things (account_id, id, alpha) VALUES ('t', '1', '${long}')`)
    const { contract } = await changes(alpha('text', 0))
    expect((await failureOf(ship(contract))).message).to.match(/too long|Data truncated/)
    expect(await database().rows('SELECT alpha FROM things')).to.deep.equal([{ alpha: long }])
    await database().rows(`UPDATE things SET alpha = 'short'`)
    await migrator().up()
    await migrator().down(3)
    expect(await database().rows('SELECT alpha FROM things')).to.deep.equal([{ alpha: 'short' }])
  })

  it('turns texts into numbers where every text is one, and back', async () => {
    await ship((await changes(alpha('text', 0))).expand)
    await database().rows(`INSERT INTO things (account_id, id, alpha) VALUES ('t', '1', '42')`)
    const { contract } = await changes(alpha('number', 0))
    await ship(contract)
    expect(await database().rows('SELECT alpha FROM things')).to.deep.equal([{ alpha: 42 }])
    await migrator().down(3)
    await database().rows(`UPDATE things SET alpha = 'many'`)
    await failureOf(migrator().up())
    expect(await database().rows('SELECT alpha FROM things')).to.deep.equal([{ alpha: 'many' }])
  })
})
