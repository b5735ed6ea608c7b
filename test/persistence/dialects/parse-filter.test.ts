import { expect } from 'chai'
import { InvalidArgument } from '../../../lib/errors.js'
import type { Columns } from '../../../lib/resource/fields/field.js'
import { filterPredicate, parseFilter, parseOrderBy } from '../../../lib/persistence/dialects/parse-filter.js'

const columns: Columns = { size: { column: 'c_size', kind: 'int32', nullable: false }, note: 'c_note' }

describe('parseFilter', () => {
  it('writes for PostgreSQL unless told otherwise', () => {
    expect(parseFilter('size = 1 OR note = "x"', columns)).to.deep.equal({
      where: '("c_size" = $1 OR "c_note" = $2)',
      params: [1, 'x'],
    })
    expect(parseFilter('size = 1', columns, { dialect: 'mysql' }).where).to.equal('`c_size` = ?')
  })

  it('returns an empty clause for a blank filter', () => {
    expect(parseFilter(' \n', columns)).to.deep.equal({ where: '', params: [] })
  })
})

describe('parseOrderBy', () => {
  it('returns columns and directions', () => {
    expect(parseOrderBy('size DESC, note', columns)).to.deep.equal([
      { column: 'c_size', direction: 'desc' },
      { column: 'c_note', direction: 'asc' },
    ])
  })
})

describe('filterPredicate', () => {
  it('knows JSON columns beside the others, and writes for any dialect', () => {
    const predicate = filterPredicate('size = 1 tags.env = "prod"', columns, { tags: 'c_tags' })
    expect(predicate()).to.deep.equal({
      where: '"c_size" = $1 AND ("c_tags" ->> $2::text) COLLATE "C" = $3',
      params: [1, 'env', 'prod'],
    })
    expect(predicate('sqlite').params).to.deep.equal([1, 'env', 'prod'])
    expect(predicate('mysql').params).to.deep.equal([1, '$."env"', 'prod'])
  })

  it('refuses at once', () => {
    expect(() => filterPredicate('tags.env = "prod"', columns)).to.throw(
      InvalidArgument,
      'unknown field "tags.env"',
    )
    expect(() => filterPredicate('size = "x"', columns, { tags: 'c_tags' })).to.throw(
      InvalidArgument,
      'position 8',
    )
  })
})
