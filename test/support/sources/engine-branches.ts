import ts from 'typescript'

const ENGINES: ReadonlySet<string> = new Set([
  'postgres',
  'mysql',
  'mariadb',
  'sqlite',
  'sqlite3',
  'better-sqlite3',
])

/**
 * Returns the lines of a file that depend on the database engine: comparisons and cases with the name of an
 * engine, tables keyed by engine, and flags such as `isMysql`. Each is `line: text`.
 */
export function engineBranches(path: string, text: string): readonly string[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true)
  const found: string[] = []
  const report = (node: ts.Node): void => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart(source))
    found.push(`${line + 1}: ${node.getText(source).split('\n')[0]?.slice(0, 80)}`)
  }
  const visit = (node: ts.Node): void => {
    if (decides(node)) report(node)
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

function decides(node: ts.Node): boolean {
  if (ts.isBinaryExpression(node) && EQUALITY.has(node.operatorToken.kind))
    return isEngineName(node.left) || isEngineName(node.right)
  if (ts.isCaseClause(node)) return isEngineName(node.expression)
  if (ts.isIdentifier(node)) return /^(is|not|on)(Mysql|Mariadb|MariaDb|Postgres|Sqlite)/.test(node.text)
  if (ts.isTypeReferenceNode(node))
    return node.typeName.getText() === 'Record' && isEngineType(node.typeArguments?.[0])
  if (ts.isMappedTypeNode(node)) return isEngineType(node.typeParameter.constraint)
  if (ts.isElementAccessExpression(node))
    return /(^|\.)(dialect|engine)(\.name)?$/.test(node.argumentExpression.getText())
  if (ts.isObjectLiteralExpression(node)) return node.properties.filter(isEngineKey).length > 1
  if (ts.isArrayLiteralExpression(node)) return node.elements.filter(isEngineName).length > 1
  return false
}

const isEngineType = (node: ts.TypeNode | undefined): boolean =>
  /^Dialect(Name)?$/.test(node?.getText() ?? '')

const EQUALITY: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.EqualsEqualsEqualsToken,
  ts.SyntaxKind.ExclamationEqualsEqualsToken,
  ts.SyntaxKind.EqualsEqualsToken,
  ts.SyntaxKind.ExclamationEqualsToken,
])

const isEngineName = (node: ts.Node): boolean => ts.isStringLiteralLike(node) && ENGINES.has(node.text)

const isEngineKey = ({ name }: ts.ObjectLiteralElementLike): boolean =>
  name !== undefined && (ts.isIdentifier(name) || ts.isStringLiteralLike(name)) && ENGINES.has(name.text)
