/** Facts about a statement that must be known before it is sent, because `sqlite3` does not report them. */
export interface SqliteText {
  /** True if the statement returns rows. Otherwise it returns the number of changed rows. */
  readonly returnsRows: boolean
  /** The number of placeholders. `sqlite3` would bind NULL for a missing value. */
  readonly placeholders: number
  /** True if the SQL contains a second statement, which `sqlite3` would silently ignore. */
  readonly several: boolean
}

const TOKEN =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|\/\*[^]*?(?:\*\/|$)|\?\d*|[:@$][A-Za-z_]\w*|[A-Za-z_][\w$]*|[();]/g

const READS = new Set(['SELECT', 'VALUES', 'PRAGMA', 'EXPLAIN'])
const VERBS = new Set(['SELECT', 'VALUES', 'INSERT', 'REPLACE', 'UPDATE', 'DELETE'])

/** Reads the words of a statement that are outside quotes, comments and parentheses. */
export function readSqliteText(text: string): SqliteText {
  const named = new Set<string>()
  const words: string[] = []
  let depth = 0
  let placeholders = 0
  let end = -1
  let several = false
  for (const match of text.matchAll(TOKEN)) {
    const token = match[0]
    if (token.startsWith('--') || token.startsWith('/*')) continue
    if (end >= 0 && token !== ';') several = true
    if (token === '(') depth++
    else if (token === ')') depth--
    else if (token === ';') end = end < 0 && depth === 0 ? match.index : end
    else if (token.startsWith('?'))
      placeholders = token === '?' ? placeholders + 1 : Math.max(placeholders, Number(token.slice(1)))
    else if (/^[:@$]/.test(token)) placeholders += named.has(token) ? 0 : (named.add(token), 1)
    else if (depth === 0 && /^[A-Za-z_]/.test(token)) words.push(token.toUpperCase())
  }
  const verb = words[0] === 'WITH' ? words.find((word) => VERBS.has(word)) : words[0]
  const isTrigger = verb === 'CREATE' && words.slice(1, 4).includes('TRIGGER')
  return {
    returnsRows:
      (verb !== undefined && READS.has(verb)) || (words.includes('RETURNING') && verb !== 'CREATE'),
    placeholders,
    several: several && !isTrigger,
  }
}
