/**
 * Declarations contradict each other. Thrown at start-up with every problem found, so that one start shows
 * all of them.
 */
export class DeclarationError extends TypeError {
  /** The problems as values, each with its kind; of your own checks as well, which give texts. */
  readonly values: readonly DeclaredProblem[]

  constructor(
    readonly subject: string,
    problems: readonly (string | DeclaredProblem)[],
  ) {
    const values = problems.map((one) => (typeof one === 'string' ? problem('own', one) : one))
    super(`${subject}: ${values.length} problem(s)\n` + values.map(({ text }) => `  - ${text}`).join('\n'))
    this.name = 'DeclarationError'
    this.values = values
  }

  /** Their sentences. */
  get problems(): readonly string[] {
    return this.values.map(({ text }) => text)
  }
}

/** A problem of a declaration: its kind, often with the values of that kind, and its sentence. */
export type DeclaredProblem = Readonly<Record<'kind' | 'text', string>>

/** A problem that prevents startup. */
export interface Problem extends DeclaredProblem {
  readonly kind: ProblemKind
  /** The class that declares it. */
  readonly entity?: string
  readonly property?: string
  /** Its full name. */
  readonly method?: string
  /** The broken rule. */
  readonly rule: string
  /** The remedy, if it is not part of the rule. */
  readonly advice?: string
}

/** The subject of a problem. */
export type ProblemKind =
  // An entity: what its decorators, its columns and its message say.
  | 'entity'
  | 'decorator'
  | 'typeorm'
  | 'tenancy'
  | 'column'
  | 'default'
  | 'message'
  | 'name'
  | 'computed'
  | 'secret'
  | 'relation'
  | 'search'
  | 'index'
  | 'event'
  | 'hook'
  // Its rows: the table, the DataSource, and the database's collation.
  | 'table'
  | 'dataSource'
  | 'notInitialized'
  | 'deletion'
  | 'collation'
  // A server: its options, the methods of its services and what they need, and the rules of access.
  | 'option'
  | 'development'
  | 'service'
  | 'reference'
  | 'repository'
  | 'validation'
  | 'gateway'
  | 'rule'
  // Why nothing runs a method.
  | 'noImplementation'
  | 'notStandard'
  | 'overwritesImmutable'
  | 'total'
  | 'restrictedWrap'
  | 'wrapWithoutRepository'
  | 'wrapOfNotStandard'
  | 'wrapOfOperation'
  | 'marked'
  // Of an authorizer, a worker or a check of the application.
  | 'own'

/** A problem. Its text is the rule and the advice in one sentence. */
export const problem = (kind: ProblemKind, rule: string, advice?: string): Problem =>
  advice === undefined ? { kind, rule, text: rule } : { kind, rule, advice, text: `${rule}: ${advice}` }

/** A problem of a property, which the rule names. */
export const propertyProblem = (
  kind: ProblemKind,
  property: string,
  rule: string,
  advice?: string,
): Problem => ({ ...problem(kind, rule, advice), property })

/** The problems without those that say the same. */
export const distinctProblems = (problems: readonly Problem[]): readonly Problem[] => [
  ...new Map(problems.map((one) => [one.text, one])).values(),
]

/** The problems of an entity, in an error about it; or about others as well, where their texts name it. */
export const inEntity = (
  entity: { readonly name: string },
  problems: readonly (string | Problem)[],
  isNamed = false,
): readonly Problem[] =>
  problems.map((one) => {
    const found = typeof one === 'string' ? problem('own', one) : one
    const { rule, text } = found
    const { name } = entity
    return isNamed
      ? { ...found, entity: name, rule: `${name}: ${rule}`, text: `${name}: ${text}` }
      : { ...found, entity: name }
  })
