import { expect } from 'chai'
import { InvalidArgument } from '../../../lib/errors.js'
import type { Column, Columns } from '../../../lib/resource/fields/field.js'
import type { DialectName } from '../../../lib/persistence/dialects/dialect.js'
import { parseOrderBy } from '../../../lib/persistence/dialects/parse-filter.js'
import { parseOrderTerms } from '../../../lib/persistence/query/order-by.js'
import { toOrderBy } from '../../../lib/persistence/dialects/to-order-by.js'
import { dialectNamed } from '../../../lib/persistence/dialects/dialect-named.js'

const of = (column: string, kind: Column['kind'], nullable = false): Column => ({ column, kind, nullable })
const columns: Columns = {
  size: of('c_size', 'int32'),
  note: of('c_note', 'string', true),
  tags: of('c_tags', 'tags'),
  parts: of('c_parts', 'json'),
  loose: 'anything',
}

const refusal = (expression: string): string => {
  try {
    parseOrderTerms(expression, columns)
  } catch (error) {
    if (!(error instanceof InvalidArgument)) throw error
    expect(error.field).to.equal('order_by')
    return error.message.slice('order_by: '.length)
  }
  return 'nothing'
}

describe('parseOrderBy', () => {
  const cases: readonly (readonly [expression: string, ...terms: string[]])[] = [
    [''],
    [' \t'],
    ['size', 'c_size asc'],
    ['size asc', 'c_size asc'],
    ['size desc', 'c_size desc'],
    ['size DESC', 'c_size desc'],
    ['size dEsC,note Asc', 'c_size desc', 'c_note asc'],
    ['  note \t desc ,\n size ', 'c_note desc', 'c_size asc'],
    ['\v\fsize\r', 'c_size asc'],
    ['loose', 'anything asc'],
  ]
  for (const [expression, ...terms] of cases) {
    it(JSON.stringify(expression), () => {
      const parsed = parseOrderBy(expression, columns)
      expect(parsed.map(({ column, direction }) => `${column} ${direction}`)).to.deep.equal(terms)
    })
  }

  const refused: readonly (readonly [expression: string, message: string])[] = [
    [',', 'empty term at position 1'],
    ['size,', 'empty term at position 6'],
    ['size, ,note', 'empty term at position 7'],
    ['sise', 'unknown field "sise" at position 1; did you mean size?'],
    ['note, 😀', 'unknown field "😀" at position 7; valid: size, note, tags, parts, loose'],
    ['constructor', 'unknown field "constructor" at position 1; valid: size, note, tags, parts, loose'],
    ['c_size', 'unknown field "c_size" at position 1; did you mean size?'],
    ['size, note, size desc', '"size" is named twice at position 13'],
    ['size down', '"size" must be followed by asc or desc, not by "down" at position 1'],
    ['size asc desc', '"size" must be followed by asc or desc, not by "asc desc" at position 1'],
    ['size; DROP TABLE x', 'unknown field "size;" at position 1; did you mean size?'],
    [
      'note, tags',
      '"tags" has no sort order: it contains several values at position 7; valid: size, note, loose',
    ],
    [
      'parts',
      '"parts" has no sort order: it contains several values at position 1; valid: size, note, loose',
    ],
    ['\u00a0', 'unknown field "\u00a0" at position 1; valid: size, note, tags, parts, loose'],
    ['size\u00a0desc', 'unknown field "size\u00a0desc" at position 1; valid: size, note, tags, parts, loose'],
    ['size \u2003desc', '"size" must be followed by asc or desc, not by "\u2003desc" at position 1'],
    ['size desc\ufeff', '"size" must be followed by asc or desc, not by "desc\ufeff" at position 1'],
    ['size\u0085', 'unknown field "size\u0085" at position 1; did you mean size?'],
    [' '.repeat(5000), 'longer than 4096 characters at position 4097'],
    [`size${' '.repeat(5000)}`, 'longer than 4096 characters at position 4097'],
  ]
  for (const [expression, message] of refused) {
    it(JSON.stringify(expression.slice(0, 40)), () => expect(refusal(expression)).to.equal(message))
  }
})

describe('toOrderBy', () => {
  const texts: Readonly<Record<DialectName, string>> = {
    postgres: '"c_size" DESC, "c_note", "anything" DESC',
    sqlite: '`c_size` DESC, `c_note` NULLS LAST, `anything` DESC NULLS FIRST',
    mysql: '`c_size` DESC, `c_note` IS NULL, `c_note`, `anything` IS NULL DESC, `anything` DESC',
    mariadb: '`c_size` DESC, `c_note` IS NULL, `c_note`, `anything` IS NULL DESC, `anything` DESC',
  }
  for (const [dialect, text] of Object.entries(texts)) {
    it(`says where NULL goes where ${dialect} would put it elsewhere`, () => {
      const terms = parseOrderTerms('size desc, note, loose desc', columns)
      expect(toOrderBy(terms, dialectNamed(dialect as DialectName))).to.equal(text)
    })
  }
})
