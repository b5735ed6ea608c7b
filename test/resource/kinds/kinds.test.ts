import { expect } from 'chai'
import { KINDS } from '../../../lib/resource/kinds/kinds.js'
import { sourceFiles } from '../../support/sources/source-files.js'

/** Where kinds are told apart by name: their table, and the entries of the engines. */
const ENTRIES = /^lib\/(resource\/kinds|persistence\/dialects\/(postgres|mysql|sqlite|values))\//
/** Tokens of filters and nodes of expressions have some of the names, too. */
const OWN = Object.keys(KINDS).filter((name) => name !== 'string' && name !== 'bool')
/** A comparison with the name of a kind, a case of it, or a table that has a row of each. */
const BRANCHES = [
  new RegExp(`(?<!typeof )\\bkind\\b[^\\n]{0,20}[!=]== '(${OWN.join('|')})'`),
  /\b(field|column|reference|key|tenant)\.kind [!=]== '(string|bool)'/,
  /case '(uint32|int64|uint64|timestamp|duration|tags)':/,
  /Record<(Exclude<|Extract<)?(FieldKind|KindName)/,
]

describe('the table of kinds', () => {
  const all = Object.values(KINDS)

  it('has each entry under its name', () => {
    for (const [name, kind] of Object.entries(KINDS)) expect(kind.name).to.equal(name)
  })

  for (const listed of ['scalars', 'columnTypes', 'classes'] as const)
    it(`lists each of its ${listed} once`, () => {
      const found = all.flatMap(({ declared }): readonly unknown[] => declared[listed])
      expect(new Set(found)).to.have.property('size', found.length)
    })

  for (const text of [
    "if (field.kind === 'string') send()",
    "kind !== 'timestamp' || send()",
    "switch (kind) { case 'tags': send() }",
    'const TYPES: Record<FieldKind, string> = {}',
  ])
    it(`finds a decision by the kind in ${text}`, () => {
      expect(BRANCHES.some((branch) => branch.test(text))).to.equal(true)
    })

  it('is where kinds are told apart: nobody else compares their names', () => {
    const wrong = sourceFiles('lib', 'decorators')
      .filter(({ path }) => /^(decorators|lib\/(resource|persistence|testing\/contract))/.test(path))
      .filter(({ path, text }) => !ENTRIES.test(path) && BRANCHES.some((branch) => branch.test(text)))
    expect(wrong.map(({ path }) => path)).to.deep.equal([])
  })
})
