import { expect } from 'chai'
import { classNames, propertyNames } from '../../../cli/from-database/class-names.js'
import { literalDefault, quoted } from '../../../cli/from-database/column-types.js'
import type { CatalogColumn } from '../../../cli/from-database/database-catalog.js'
import { setByTriggers } from '../../../cli/from-database/trigger-columns.js'
import type { CatalogTable } from '../../../cli/from-database/database-catalog.js'
import { singularOf } from '../../../cli/generate/words.js'

describe('the singular of a table name', () => {
  for (const [plural, singular] of [
    ['order_items', 'order_item'],
    ['categories', 'category'],
    ['addresses', 'address'],
    ['boxes', 'box'],
    ['shelves', 'shelf'],
    ['statuses', 'status'],
    ['order_status', 'order_status'],
    ['houses', 'house'],
    ['movies', 'movie'],
    ['people', 'person'],
    ['staff', 'staff'],
    ['currency', 'currency'],
    ['analysis', 'analysis'],
  ] as const)
    it(`of ${plural} is ${singular}`, () => expect(singularOf(plural)).to.equal(singular))
})

describe('the properties of columns', () => {
  it('are in camel case, unless that clashes or is not a name', () => {
    expect([
      ...propertyNames(['created_at', 'userId', 'user_id', 'constructor', '2fa', 'Größe']),
    ]).to.deep.equal([
      ['created_at', 'createdAt'],
      ['userId', 'userId'],
      ['user_id', undefined],
      ['constructor', undefined],
      ['2fa', undefined],
      ['Größe', 'groe'],
    ])
  })
})

describe('the names of a class', () => {
  it('are not those of one in the same file, and not those of every object', () => {
    const table = (name: string) => ({ id: name, schema: 'public', name }) as CatalogTable
    expect([
      ...classNames(['x_rays', 'xrays', 'data_sources'].map(table)).values(),
      ...propertyNames(['a_b_c', 'a_bc', '__proto__']).values(),
    ]).to.deep.equal(['XRay', 'Xrays', 'DataSourceEntity', 'aBC', undefined, undefined])
  })
})

describe('the default of a column', () => {
  const column = (type: string, sql: string, typeKind = 'b') =>
    literalDefault({ type, typeKind, element: null, default: sql } as CatalogColumn)

  for (const [type, sql, value] of [
    ['int4', '0', 0],
    ['int4', "'-1'::integer", -1],
    ['bool', 'true', true],
    ['text', "'it''s'::text", "it's"],
    ['varchar', "'a'::character varying", 'a'],
    ['numeric', '0.00', undefined],
    ['timestamptz', 'now()', undefined],
    ['text', "('a'::text || 'b'::text)", undefined],
  ] as const)
    it(`of ${type} that is ${sql} is ${value === undefined ? 'an expression' : `the literal ${String(value)}`}`, () =>
      expect(column(type, sql)).to.equal(value))

  it('of an enum is its label', () =>
    expect(column('state', "'picked up'::rental.state", 'e')).to.equal('picked up'))
})

describe('the columns that triggers set', () => {
  const set = (source: string, definition = '', functionName = 'f') => [
    ...setByTriggers({
      columns: [{ name: 'updated_at' }, { name: 'state' }],
      triggers: [
        { name: 't', source, definition, functionName, isBefore: true, onInsert: false, onUpdate: true },
      ],
    } as unknown as CatalogTable).keys(),
  ]

  it('are those that its function assigns', () => {
    expect(set('BEGIN NEW.updated_at := now(); RETURN NEW; END')).to.deep.equal(['updated_at'])
    expect(set('BEGIN IF a THEN NEW."updated_at" = now(); END IF; RETURN NEW; END')).to.deep.equal([
      'updated_at',
    ])
  })

  it('are not those that it compares or leaves out in a comment', () => {
    expect(set("BEGIN IF NEW.state = 'paid' THEN RETURN NULL; END IF; RETURN NEW; END")).to.deep.equal([])
    expect(set("BEGIN -- NEW.state = 'paid'\n RETURN NEW; END")).to.deep.equal([])
  })

  it('are the argument of moddatetime', () => {
    const definition =
      "CREATE TRIGGER t BEFORE UPDATE ON a FOR EACH ROW EXECUTE FUNCTION moddatetime('updated_at')"
    expect(set('moddatetime', definition, 'moddatetime')).to.deep.equal(['updated_at'])
  })
})

describe('a string literal of a generated class', () => {
  it('is in the quotes that need no escapes', () => {
    expect([quoted('a'), quoted("it's"), quoted('say "a"'), quoted('a\\b\n')]).to.deep.equal([
      "'a'",
      '"it\'s"',
      '\'say "a"\'',
      "'a\\\\b\\n'",
    ])
  })
})
