import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { root } from './support/root.js'
import { projectFiles, sourceFiles } from './support/sources/source-files.js'
import { surface } from './support/sources/surface.js'

/** A line of the glossary: a term, and the words that are not used for it. */
interface Term {
  readonly term: string
  readonly meaning: string
  readonly not: readonly string[]
}

const TERMS = readTerms()
const BANNED = TERMS.flatMap(({ term, not }) => not.map((word) => ({ word, term })))

describe('the glossary', () => {
  it('has one line for each term, in order, with its meaning', () => {
    const names = TERMS.map(({ term }) => term)
    expect(names).to.have.length.above(40)
    expect(names).to.deep.equal([...new Set(names)].sort())
    expect(TERMS.filter(({ meaning }) => meaning === '')).to.deep.equal([])
  })

  it('bans no word that is a term', () => {
    const names = new Set(TERMS.map(({ term }) => term))
    expect(BANNED.filter(({ word }) => names.has(word))).to.deep.equal([])
  })

  for (const [what, text, word] of [
    ['a name in camel case', 'GrpcDoor', 'door'],
    ['a plural', 'openDoors', 'door'],
    ['a constant', 'PURGE_CUTOFF', 'cutoff'],
    ['two words', 'NearMissError', 'near miss'],
    ['a heading', '## What a rehearsal writes', 'rehearsal'],
    ['an option', '--near-miss', 'near miss'],
  ] as const)
    it(`finds a banned word in ${what}`, () => {
      expect(wrongIn(text)).to.include(word)
    })

  it('finds none in words that only begin alike', () => {
    expect(['surrogate', 'Timestamp', 'delegate', 'doorway', 'predicate'].flatMap(wrongIn)).to.deep.equal([])
  })

  it('holds the exported names of every entry, and the members of their types', () => {
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

  it('holds what the files of the project export to each other', () => {
    const names = sourceFiles('lib', 'decorators', 'cli')
      .filter(({ path }) => !path.startsWith('lib/gen/'))
      .flatMap(({ path, text }) => exportedNames(path, text).map((name) => `${path} ${name}`))
    expect(names).to.include('lib/errors.ts AshlarError')
    expect(misnamed(names)).to.deep.equal([])
  })

  it('holds the fields of log records', () => {
    const fields = surface().loggedFields()
    expect(fields).to.include.members(['requestId', 'transport', 'durationMs', 'tenant', 'err', 'ignored'])
    expect(fields).to.not.include('error')
    expect(misnamed(fields)).to.deep.equal([])
  })

  it('holds the headings of the documentation', () => {
    const headings = pages().flatMap((path) => linesOf(path).filter((line) => /^#+ /.test(line)))
    expect(headings).to.include('# Command line')
    expect(misnamed(headings)).to.deep.equal([])
  })

  it('holds the text of the documentation', () => {
    const lines = pages().flatMap((path) =>
      linesOf(path).map((line, index) => `${path}:${index + 1} ${line}`),
    )
    expect(lines).to.include('README.md:1 # Ashlar')
    expect(misworded(lines)).to.deep.equal([])
  })

  it('holds the comments of the code', () => {
    const comments = sourceFiles('lib', 'decorators', 'cli')
      .filter(({ path }) => !path.startsWith('lib/gen/'))
      .flatMap(({ path, text }) => commentsIn(text).map((comment) => `${path} ${comment}`))
    expect(comments).to.have.length.above(2000)
    expect(misworded(comments)).to.deep.equal([])
  })

  it('finds a word in a comment, and none in code or in a string', () => {
    const text =
      "const answer = '// answer' // an answer\n/** The door. */\nconst x = `${answer /* a fate */}`"
    expect(commentsIn(text).flatMap(wrongIn)).to.deep.equal(['answer', 'door', 'fate'])
  })

  it('holds commands, options and help of the command line', () => {
    const lines = linesOf('docs/reference/cli.md')
    expect(lines.some((line) => line.includes('--dialect'))).to.equal(true)
    expect(misnamed(lines)).to.deep.equal([])
  })
})

/** Banned words for names that are ordinary English in a sentence: a symbolic link, in place of, a generation of servers. */
const ENGLISH = new Set(['link', 'place', 'generation'])

/** Words that make a sentence hard to read. */
const HARD = /\b(?:whoever|whom|whomever)\b/i

/** The sentences that have a banned word, with the words to use. `{@link X}` is not one. */
const misworded = (texts: readonly string[]): readonly string[] =>
  texts.flatMap((text) => {
    const sentence = text.replaceAll(/\{@link [^}]*\}/g, '').replaceAll(/`[^`]*`/g, '')
    const hard = HARD.test(sentence) ? [`${text}: say who does what`] : []
    return wrongIn(sentence)
      .filter((word) => !ENGLISH.has(word))
      .map((word) => `${text}: ${word}, which is ${termFor(word)}`)
      .concat(hard)
  })

/** The pages for readers, all but the glossary, which names the banned words. */
const pages = (): readonly string[] =>
  projectFiles('docs')
    .filter((path) => path.endsWith('.md') && path !== 'docs/reference/glossary.md')
    .concat('README.md', 'SECURITY.md', 'CONTRIBUTING.md')

/** Every comment of a file, in order. */
function commentsIn(text: string): readonly string[] {
  const source = ts.createSourceFile('comments.ts', text, ts.ScriptTarget.ES2022, true)
  const found = new Map<number, string>()
  const visit = (node: ts.Node): void => {
    const children = node.getChildren(source)
    if (children.length > 0) return children.forEach(visit)
    const around = [
      ...(ts.getLeadingCommentRanges(text, node.pos) ?? []),
      ...(ts.getTrailingCommentRanges(text, node.end) ?? []),
    ]
    for (const { pos, end } of around) found.set(pos, text.slice(pos, end).replaceAll(/\s+/g, ' '))
  }
  visit(source)
  return [...found].sort(([a], [b]) => a - b).map(([, comment]) => comment)
}

/** The names that have a banned word, with the words to use. */
const misnamed = (names: readonly string[]): readonly string[] =>
  names.flatMap((name) => wrongIn(name).map((word) => `${name}: ${word}, which is ${termFor(word)}`))

const termFor = (word: string): string => BANNED.find((one) => one.word === word)?.term ?? ''

/** The banned words of a name or a text, in any spelling. */
function wrongIn(text: string): readonly string[] {
  const words = ` ${wordsOf(text).map(singular).join(' ')} `
  return BANNED.map(({ word }) => word).filter((word) => words.includes(` ${word} `))
}

const wordsOf = (text: string): readonly string[] =>
  text
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== '')

const singular = (word: string): string =>
  BANNED.some((one) => `${one.word}s` === word) ? word.slice(0, -1) : word

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
