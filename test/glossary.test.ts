import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { root } from './support/root.js'
import { sourceFiles } from './support/sources/source-files.js'
import { surface } from './support/sources/surface.js'

/** A line of the glossary: a term, and the words that are not used for it. */
interface Term {
  readonly term: string
  readonly meaning: string
  readonly not: readonly string[]
}

const TERMS = readTerms()
const RETIRED = TERMS.flatMap(({ term, not }) => not.map((word) => ({ word, term })))

describe('the retired names of the glossary', () => {
  it('stand beside one line for each term, in order, with its meaning', () => {
    const names = TERMS.map(({ term }) => term)
    expect(names).to.have.length.above(40)
    expect(names).to.deep.equal([...new Set(names)].sort())
    expect(TERMS.filter(({ meaning }) => meaning === '')).to.deep.equal([])
  })

  it('are no terms', () => {
    const names = new Set(TERMS.map(({ term }) => term))
    expect(RETIRED.filter(({ word }) => names.has(word))).to.deep.equal([])
  })

  for (const [what, text, word] of [
    ['a name in camel case', 'GrpcDoor', 'door'],
    ['a plural', 'openDoors', 'door'],
    ['a constant', 'PURGE_CUTOFF', 'cutoff'],
    ['two words', 'NearMissError', 'near miss'],
    ['an option', '--near-miss', 'near miss'],
  ] as const)
    it(`are found in ${what}`, () => {
      expect(wrongIn(text)).to.include(word)
    })

  it('are not found in words that only begin alike', () => {
    expect(['surrogate', 'Timestamp', 'delegate', 'doorway', 'predicate'].flatMap(wrongIn)).to.deep.equal([])
  })

  it('are not exported names of an entry, nor members of their types', () => {
    const { entries, exportsOf, membersOf } = surface()
    const names = entries.flatMap((entry) =>
      exportsOf(entry).flatMap(({ name }) => [
        name,
        ...membersOf(entry, name).map((one) => `${name}.${one}`),
      ]),
    )
    expect(names).to.include('Config.httpAddr')
    expect(misnamed(names)).to.deep.equal([])
  })

  it('are not what the files of the project export to each other', () => {
    const names = sourceFiles('lib', 'decorators', 'cli')
      .filter(({ path }) => !path.startsWith('lib/gen/'))
      .flatMap(({ path, text }) => exportedNames(path, text).map((name) => `${path} ${name}`))
    expect(names).to.include('lib/errors.ts AshlarError')
    expect(misnamed(names)).to.deep.equal([])
  })

  it('are not fields of log records', () => {
    const fields = surface().loggedFields()
    expect(fields).to.include.members(['requestId', 'transport', 'durationMs', 'tenant', 'err', 'ignored'])
    expect(fields).to.not.include('error')
    expect(misnamed(fields)).to.deep.equal([])
  })

  it('are not commands or options of the command line', () => {
    const names = linesOf('docs/reference/cli.md').flatMap(
      (line) => line.match(/^## .*|--[a-z][a-z-]*/g) ?? [],
    )
    expect(names).to.include.members(['--dialect', '## ashlar migrate adopt'])
    expect(misnamed(names)).to.deep.equal([])
  })
})

/** The names that have a retired name, with the words to use. */
const misnamed = (names: readonly string[]): readonly string[] =>
  names.flatMap((name) => wrongIn(name).map((word) => `${name}: ${word}, which is ${termFor(word)}`))

const termFor = (word: string): string => RETIRED.find((one) => one.word === word)?.term ?? ''

/** The retired names of a name or a text, in any spelling. */
function wrongIn(text: string): readonly string[] {
  const words = ` ${wordsOf(text).map(singular).join(' ')} `
  return RETIRED.map(({ word }) => word).filter((word) => words.includes(` ${word} `))
}

const wordsOf = (text: string): readonly string[] =>
  text
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== '')

const singular = (word: string): string =>
  RETIRED.some((one) => `${one.word}s` === word) ? word.slice(0, -1) : word

function readTerms(): readonly Term[] {
  const rows = linesOf('docs/reference/glossary.md').filter((line) => /^\| (?!term |-)/.test(line))
  return rows.map((row) => {
    const [term = '', meaning = '', not = ''] = row
      .split('|')
      .slice(1)
      .map((cell) => cell.trim())
    return { term, meaning, not: not.split(', ').filter((word) => word !== '') }
  })
}

function exportedNames(path: string, text: string): readonly string[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true)
  return source.statements.flatMap((statement) => {
    const isExported =
      ts.canHaveModifiers(statement) &&
      (ts.getModifiers(statement) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
    if (!isExported) return []
    if (ts.isVariableStatement(statement))
      return statement.declarationList.declarations.map(({ name }) => name.getText(source))
    const { name } = statement as ts.DeclarationStatement
    return name === undefined ? [] : [name.getText(source)]
  })
}

function linesOf(path: string): readonly string[] {
  return readFileSync(join(root, path), 'utf8').split('\n')
}
