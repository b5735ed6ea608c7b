import { expect } from 'chai'
import { readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import ts from 'typescript'
import * as typeorm from 'typeorm'
import { REFUSED, problemsOf, widgetWith } from '../../resource/typeorm/declarations.js'
import { OR_INTERNAL } from '../../resource/typeorm/options.js'
import { keyOnly } from './declared-row.js'
import { LINES, SHOWN } from './page.js'

/** The decorator whose lines show the options of each interface; undefined if it is of no decorator. */
const OWNERS: Readonly<Record<string, string | undefined>> = {
  ...Object.fromEntries(
    [
      ...['ColumnCommonOptions', 'ColumnOptions', 'ColumnEnumOptions', 'ColumnHstoreOptions'],
      ...['ColumnNumericOptions', 'ColumnUnsignedOptions', 'ColumnWithLengthOptions'],
      ...['SpatialColumnOptions', 'ColumnEmbeddedOptions'],
    ].map((name) => [name, 'Column']),
  ),
  ...Object.fromEntries(
    ['Identity', 'Numeric', 'UUID'].map((kind) => [
      `PrimaryGeneratedColumn${kind}Options`,
      'PrimaryGeneratedColumn',
    ]),
  ),
  EntityOptions: 'Entity',
  ExclusionOptions: 'Exclusion',
  ForeignKeyOptions: 'ForeignKey',
  IndexOptions: 'Index',
  JoinColumnOptions: 'JoinColumn',
  JoinTableMultipleColumnsOptions: 'JoinTable',
  JoinTableOptions: 'JoinTable',
  RelationOptions: 'ManyToOne',
  UniqueOptions: 'Unique',
  ViewColumnOptions: 'ViewColumn',
  ViewEntityOptions: 'ViewEntity',
  VirtualColumnOptions: 'VirtualColumn',
  TransactionOptions: undefined,
  ValueTransformer: undefined,
}

const folder = join(dirname(createRequire(import.meta.url).resolve('typeorm')), 'decorator')
const statements = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.d.ts'))
  .flatMap((path) => {
    const text = ts.sys.readFile(join(folder, path)) ?? ''
    return [...ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true).statements]
  })
const decorators = new Set(
  statements
    .filter(ts.isFunctionDeclaration)
    .map(({ name }) => name?.text ?? '')
    .filter((name) => name in typeorm),
)
const interfaces = statements.filter(ts.isInterfaceDeclaration)

describe('the page about what TypeORM declares', () => {
  it('shows every decorator that TypeORM exports', () => {
    expect(decorators.size).to.be.at.least(41)
    const shown = new Set(LINES.map(({ decorator }) => decorator))
    expect([...decorators].filter((name) => !shown.has(name))).to.deep.equal([])
    expect([...shown].filter((name) => !decorators.has(name) || !SHOWN.includes(name))).to.deep.equal([])
    expect(SHOWN.filter((name) => !shown.has(name))).to.deep.equal([])
  })

  it('shows every option of every decorator that is not rejected as a whole', () => {
    expect(interfaces.length).to.be.at.least(24)
    const unknown = interfaces.map(({ name }) => name.text).filter((name) => !(name in OWNERS))
    expect(unknown).to.deep.equal([])
    const missing = interfaces.flatMap(({ name, members }) => {
      const owner = OWNERS[name.text]
      const lines = LINES.filter(({ decorator }) => decorator === owner)
      if (owner === undefined || lines.every(({ answer }) => answer.startsWith('rejected'))) return []
      const options = members.map((member) => (member.name as ts.Identifier | undefined)?.text ?? '')
      return options
        .filter((option) => !lines.some((line) => line.options.includes(option)))
        .map((option) => `${name.text}.${option}`)
    })
    expect(missing).to.deep.equal([])
  })

  for (const { decorator, code, declare, problems, replaces } of REFUSED)
    if (code !== undefined && problems.every((text) => text.endsWith(OR_INTERNAL)))
      it(`is right about ${code} of @${decorator}() without a field`, () => {
        const entity = widgetWith(declare, { replaces, message: keyOnly() })
        expect(problemsOf(entity)).to.deep.equal([])
      })
})
