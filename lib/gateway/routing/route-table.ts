import { decoded, type PathTemplate } from './path-template.js'

/** A template for an HTTP method, and its target. */
export interface Route<T> {
  /** For example `GET`, or `*` for every method. */
  readonly httpMethod: string
  readonly template: PathTemplate
  readonly target: T
}

export interface Match<T> {
  readonly target: T
  /** The segments of the path as received, without the verb. */
  readonly segments: readonly string[]
}

/** The match of a path and method, or the allowed methods of a path that only has others. */
export type Found<T> = { readonly match: Match<T> } | { readonly allow: readonly string[] }

interface Node<T> {
  readonly literals: Map<string, Node<T>>
  one: Node<T> | undefined
  readonly here: Map<string, T>
  readonly rest: Map<string, T>
}

/**
 * Routes by path. Templates with a verb take precedence. Then, for each segment, a literal takes precedence
 * over `*`, and `*` over `**`.
 */
export class RouteTable<T extends object | string> {
  readonly #byVerb = new Map<string, Node<T>>()

  /** Adds a route. Returns false and adds nothing if a route of the same method and pattern exists. */
  add({ httpMethod, template, target }: Route<T>): boolean {
    let node = this.#byVerb.get(template.verb)
    if (node === undefined) this.#byVerb.set(template.verb, (node = emptyNode()))
    for (const segment of template.segments) {
      if (segment.kind === 'rest') return claim(node.rest, httpMethod, target)
      node = segment.kind === 'one' ? (node.one ??= emptyNode()) : literalNode(node, segment.text)
    }
    return claim(node.here, httpMethod, target)
  }

  /**
   * Finds the route of a request.
   * @param path - as received, without the query.
   */
  find(httpMethod: string, path: string): Found<T> | undefined {
    const colon = path.lastIndexOf(':')
    if (colon > path.lastIndexOf('/')) {
      const verb = decoded(path.slice(colon + 1)) ?? ''
      // If no route has this verb, the colon belongs to the value.
      const verbs = verb === '' ? undefined : this.#byVerb.get(verb)
      const found =
        verbs === undefined ? undefined : search(verbs, httpMethod, path.slice(1, colon).split('/'))
      if (found !== undefined) return found
    }
    const plain = this.#byVerb.get('')
    return plain === undefined ? undefined : search(plain, httpMethod, path.slice(1).split('/'))
  }
}

function search<T>(root: Node<T>, httpMethod: string, segments: readonly string[]): Found<T> | undefined {
  const target = targetIn(root, httpMethod, segments, 0)
  if (target !== undefined) return { match: { target, segments } }
  const allow = new Set<string>()
  addMethods(root, segments, 0, allow)
  return allow.size === 0 ? undefined : { allow: [...allow] }
}

function targetIn<T>(
  node: Node<T>,
  httpMethod: string,
  segments: readonly string[],
  index: number,
): T | undefined {
  const segment = segments[index]
  if (segment === undefined) return targetOf(node.here, httpMethod) ?? targetOf(node.rest, httpMethod)
  const literal = literalOf(node, segment)
  return (
    (literal && targetIn(literal, httpMethod, segments, index + 1)) ??
    (node.one !== undefined && segment !== ''
      ? targetIn(node.one, httpMethod, segments, index + 1)
      : undefined) ??
    targetOf(node.rest, httpMethod)
  )
}

const targetOf = <T>(methods: ReadonlyMap<string, T>, httpMethod: string): T | undefined =>
  methods.size === 0 ? undefined : (methods.get(httpMethod) ?? methods.get('*'))

/** Collects the methods of all routes that match the path. */
function addMethods<T>(node: Node<T>, segments: readonly string[], index: number, found: Set<string>): void {
  const segment = segments[index]
  if (segment !== undefined) {
    const literal = literalOf(node, segment)
    if (literal !== undefined) addMethods(literal, segments, index + 1, found)
    if (node.one !== undefined && segment !== '') addMethods(node.one, segments, index + 1, found)
  } else for (const method of node.here.keys()) found.add(method)
  for (const method of node.rest.keys()) found.add(method)
}

const literalOf = <T>(node: Node<T>, segment: string): Node<T> | undefined =>
  node.literals.get(segment) ?? (segment.includes('%') ? unescapedLiteral(node, segment) : undefined)

function unescapedLiteral<T>(node: Node<T>, segment: string): Node<T> | undefined {
  const text = decoded(segment)
  return text === undefined ? undefined : node.literals.get(text)
}

function literalNode<T>(node: Node<T>, text: string): Node<T> {
  const known = node.literals.get(text)
  if (known !== undefined) return known
  const created = emptyNode<T>()
  node.literals.set(text, created)
  return created
}

function claim<T>(methods: Map<string, T>, httpMethod: string, target: T): boolean {
  if (methods.has(httpMethod)) return false
  methods.set(httpMethod, target)
  return true
}

const emptyNode = <T>(): Node<T> => ({
  literals: new Map(),
  one: undefined,
  here: new Map(),
  rest: new Map(),
})
