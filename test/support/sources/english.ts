import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import ts from 'typescript'
import { root } from '../root.js'

/**
 * A part of `npm run check`: patterns of comments and messages that are never good English, and words that
 * names do not use. See "Wording" in CONTRIBUTING.md.
 */
const COMMENTS: readonly (readonly [pattern: RegExp, advice: string])[] = [
  [/^\s*(?:\/\*\*?|\*|\/\/) ?(?:What|Whether|Who|Whom|How|Where)\b/, 'begin with what the reader gets'],
  [/\b(?:that|who) (?:is|are|was|were) (?:not )?there\b/, 'write "existing" or "missing"'],
]
const TEXTS: readonly (readonly [pattern: RegExp, advice: string])[] = [
  [
    /(?<!\b[Tt]here )\b(?:is|are|was|were) no (?!longer\b|more\b|less\b|later\b|earlier\b|need\b|such\b)[a-z]/,
    'write "is not a"',
  ],
]

/**
 * Patterns that are correct in some places. Together, they may occur once in 1,000 words of comments and
 * strings.
 */
const CANDIDATES: readonly RegExp[] = [
  /\b(?:is|are|was|were|be|been) no(?! longer\b| more\b| less\b| later\b| earlier\b| need\b)\b/g,
  /\bthat (?:is|are) none\b|\bone that is none\b|\bnone of (?:its|ours)\b/g,
  /(?:^|[.:] )Where [a-z]/gm,
  /\b(?:told|tells|untold|sought|is asked|are asked|hears? of|learns? of)\b/g,
  /\b(?:nobody|somebody|everybody|whoever|whomever|whichever)\b/gi,
  /\bstops? the start\b|\bat the start\b/g,
  /\b(?:that|those) of\b/g,
  /\b(?:let in|lets in|ways? (?:up|down)|spellings?|mints?|minted|minting)\b/g,
  /, else\b/g,
]
const MAX_IN_1000_WORDS = 1
const PROSE = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`/g

/**
 * Words that names must not contain. They are compared with whole words of camelCase, PascalCase, snake_case
 * and kebab-case names.
 */
const WORDS = new Set([
  ...['told', 'tells', 'untold', 'sought', 'hears', 'landed', 'dearest', 'spelling', 'spellings'],
  ...['merged', 'merging', 'believes', 'nobody', 'minted', 'most', 'least'],
  ...['aviary', 'cutoff', 'fate', 'keeper', 'rehearsal', 'rehearse', 'sealing', 'yellowbird'],
])
const PHRASES = /(?:^|-)(?:way|ways)-(?:up|down)(?:-|$)|(?:^|-)let-in(?:-|$)/
/** Names that use one of these words correctly. */
const EXCEPTIONS: ReadonlySet<string> = new Set([
  // Credentials are minted.
  ...['MintedCredential', 'minted'],
  // Helpdesk tickets are merged.
  'merged',
])

const wordsOf = (name: string): readonly string[] =>
  name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .split(/[^a-z\d]+/)

/** Returns whether a declared name or a file name uses a forbidden word. `most` is allowed in constants. */
const isPrivate = (name: string): boolean => {
  const words = wordsOf(name)
  const isConstant = /^[A-Z\d_]+$/.test(name)
  return (
    words.some((word) => WORDS.has(word) && (isConstant || (word !== 'most' && word !== 'least'))) ||
    PHRASES.test(words.join('-'))
  )
}

const folders = ['lib', 'cli', 'decorators', 'packages', 'bench', 'test/support']
const paths = execFileSync('git', ['ls-files', '-z', ...folders], { cwd: root, encoding: 'utf8' })
  .split('\0')
  .filter((path) => /(?<!\.d)\.ts$/.test(path) && !path.includes('/gen/'))
const problems: string[] = []
let words = 0
let candidates = 0
for (const path of paths) {
  const text = readFileSync(join(root, path), 'utf8')
  const isPublic = !/^(?:bench|test)\/|\/test\//.test(path)
  if (isPublic)
    for (const [prose] of text.matchAll(PROSE)) {
      words += prose.split(/\s+/).filter((word) => /[a-z]{2}/i.test(word)).length
      for (const pattern of CANDIDATES) candidates += prose.match(pattern)?.length ?? 0
    }
  for (const [at, line] of text.split('\n').entries()) {
    const isComment = /^\s*(?:\/\/|\/\*|\*)/.test(line)
    for (const [pattern, advice] of [...(isComment ? COMMENTS : []), ...TEXTS])
      if (isPublic && pattern.test(line)) problems.push(`${path}:${at + 1}: ${advice}: ${line.trim()}`)
  }
  if (isPrivate(basename(path, '.ts'))) problems.push(`${path}: rename the file`)
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const visit = (node: ts.Node): void => {
    const { name } = node as { readonly name?: ts.Node }
    const isDeclaration =
      name !== undefined &&
      (ts.isIdentifier(name) || ts.isPrivateIdentifier(name)) &&
      !ts.isPropertyAccessExpression(node) &&
      !ts.isImportSpecifier(node) &&
      !ts.isExportSpecifier(node)
    if (isDeclaration && isPrivate(name.text) && !EXCEPTIONS.has(name.text)) {
      const { line } = file.getLineAndCharacterOfPosition(name.getStart())
      problems.push(`${path}:${line + 1}: rename ${name.text}`)
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
}
const density = (1000 * candidates) / words
console.log(
  `${candidates} patterns in ${words} words of comments and strings: ${density.toFixed(2)} in 1,000`,
)
if (density > MAX_IN_1000_WORDS) problems.push(`more than ${MAX_IN_1000_WORDS} pattern in 1,000 words`)
for (const problem of problems) console.error(problem)
if (problems.length > 0) console.error(`${problems.length} problems`)
process.exitCode = problems.length > 0 ? 1 : 0
