import { expect } from 'chai'
import { filterPredicate, parseFilter } from '../../../lib/persistence/dialects/parse-filter.js'
import { columnsOf, jsonColumnsOf } from '../../../lib/persistence/query/columns-of.js'
import { InvalidArgument } from '../../../lib/errors.js'
import { Specimen } from '../../support/entities/specimen.js'

describe('columnsOf', () => {
  it('names what may be filtered, and how it is typed', () => {
    const { where, params } = parseFilter(
      'title = "x" AND big > 9007199254740993 create_time != null',
      columnsOf(Specimen),
    )
    expect(where).to.match(/^"title" = \$1 AND "big" > \$2 AND "\w+" IS NOT NULL$/)
    expect(params).to.deep.equal(['x', '9007199254740993'])
  })

  const hidden = [
    'webhook_secret',
    'webhook_secret_hash',
    'api_key',
    'api_key_hash',
    'account_id',
    'etag',
    'delete_time',
    'bin',
  ]
  for (const field of hidden) {
    it(`leaves out ${field}`, () => {
      expect(Object.hasOwn(columnsOf(Specimen), field)).to.equal(false)
      expect(() => parseFilter(`${field} = "x"`, columnsOf(Specimen))).to.throw(
        InvalidArgument,
        'unknown field',
      )
    })
  }
})

describe('jsonColumnsOf', () => {
  it('names the tags', () => {
    expect(Object.keys(jsonColumnsOf(Specimen))).to.deep.equal(['tags'])
    const predicate = filterPredicate('tags.env = "prod"', columnsOf(Specimen), jsonColumnsOf(Specimen))
    expect(predicate('sqlite').params).to.deep.equal(['env', 'prod'])
  })
})
