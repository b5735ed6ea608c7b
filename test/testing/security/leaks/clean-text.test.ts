import { expect } from 'chai'
import { Column, DataSource, Entity, PrimaryColumn } from 'typeorm'
import { Resource } from '../../../../decorators/index.js'
import { repositoryOf, SqliteDataSource } from '../../../../lib/persistence/index.js'
import { resourceModel } from '../../../../lib/resource/resource-model.js'
import { unfitIn } from '../../../../lib/testing/security/leaks/clean-text.js'
import { Specimen } from '../../../support/entities/specimen.js'
import { subjectOptions } from '../../../conformance/repository/subject.js'

@Resource({ shared: true })
@Entity('parcels')
class Parcel {
  @PrimaryColumn() id!: string
  @Column({ name: 'code' }) label!: string
}

const Specimens = repositoryOf(Specimen)
const TABLE = 'the name of a table or column'

describe('what an error says to a caller', () => {
  const found = (dataSource: DataSource) => (text: string) =>
    unfitIn(text, text, [new Specimens(dataSource, subjectOptions)])

  it('is unfit where it names the table, by its prefix or without', () => {
    const said = found(
      new SqliteDataSource({ database: ':memory:', entities: [Specimen], entityPrefix: 'app_' }),
    )
    expect(said('cannot write app_specimens now')).to.equal(TABLE)
    expect(said('cannot write "app_specimens"')).to.equal(TABLE)
    expect(said('cannot write specimens now')).to.equal(TABLE)
    expect(said('cannot write app_specimen now')).to.equal(undefined)
  })

  it('is fit where the name of the table is also a field of the request', () => {
    const repository = new Specimens(
      new SqliteDataSource({ database: ':memory:', entities: [Specimen] }),
      subjectOptions,
    )
    const text = 'specimens.title: has to be shorter'
    expect(unfitIn(text, text, [repository])).to.equal(TABLE)
    expect(unfitIn(text, text, [repository], ['specimens', 'update_mask'])).to.equal(undefined)
  })

  it('is fit where only the body of an HTTP error has the name of the column', () => {
    const repositories = [{ model: resourceModel(Parcel) }]
    const said = (message: string, field = 'label') => {
      const body = JSON.stringify({ code: 5, message, details: [{ fieldViolations: [{ field }] }] })
      return unfitIn(body, body, repositories)
    }
    expect(said('there is no such parcel')).to.equal(undefined)
    expect(said('null value in "code"')).to.equal(TABLE)
    expect(said('is required', 'code')).to.equal(TABLE)
  })

  it('is unfit where it names the table in its schema, and the schema alone is a word', () => {
    const said = found(new DataSource({ type: 'postgres', schema: 'inventory', entities: [Specimen] }))
    expect(said('inventory.specimens is locked')).to.equal(TABLE)
    expect(said('the inventory is closed')).to.equal(undefined)
  })

  for (const [why, text] of [
    ['a stack', 'failed\n    at Object.<anonymous> (load.js:1:2)'],
    ['a stack', '{"message":"failed\\n    at load (load.js:1:2)"}'],
    ['a stack', 'failed at async Shop.load (load.js:10:22)'],
    ['a path of the program', 'cannot find node_modules/pg'],
    ['a path of the program', 'failed in file:///srv/shop.js'],
    ['an absolute path', "ENOENT: no such file or directory, open '/etc/shop/key'"],
    ['an absolute path', 'cannot read /var/lib/shop/rows'],
    ['an absolute path', 'cannot load /shop/dist/main.js'],
    ['an absolute path', 'cannot load /shop/dist/main.ts:12'],
    ['an absolute path', 'cannot load C:\\shop\\dist\\main.js'],
    ['an absolute path', '{"message":"cannot load C:\\\\shop\\\\dist\\\\main.js"}'],
    ['an absolute path', 'cannot load D:/shop/main.js'],
    ['an absolute path', 'cannot read \\\\files\\shop\\main.js'],
  ] as const)
    it(`is unfit where it has ${why}: ${text}`, () => expect(unfitIn(text, text, [])).to.equal(why))

  for (const text of [
    'there is no method POST /v1/widgets/a',
    'GET /v1/files/report.js: not found',
    'resource "accounts/acme/widgets/a" not found',
    'type.googleapis.com/google.rpc.ErrorInfo',
    'see https://example.com/docs/errors.html',
    '{"message":"Widget \\"\\\\u0001\\\\u202e\\\\u0000\\" not found"}',
    'name: has to match projects/{project}/tasks/{task}',
    'at most 100 at once (limits.maxElements)',
    'time: has to be at 10:22:33 (UTC)',
  ])
    it(`is fit where it has a route or a name: ${text}`, () =>
      expect(unfitIn(text, text, [])).to.equal(undefined))
})
