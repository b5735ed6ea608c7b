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
})
