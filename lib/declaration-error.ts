/**
 * The error for contradictory declarations. It is thrown at startup and contains every problem, so that one
 * start reports all of them.
 */
export class DeclarationError extends TypeError {
  /** The problems with their kinds, including those of your own checks, which return strings. */
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

  /** The problems as sentences. */
  get problems(): readonly string[] {
    return this.values.map(({ text }) => text)
  }
}

/** A problem of a declaration: its kind, its sentence, and often further values. */
export type DeclaredProblem = Readonly<Record<'kind' | 'text', string>>

/** A problem that prevents startup. */
export interface Problem extends DeclaredProblem {
  readonly kind: ProblemKind
  /** The entity class. */
  readonly entity?: string
  readonly property?: string
  /** The full name of the method. */
  readonly method?: string
  /** The broken rule. */
  readonly rule: string
  /** Advice, if it is not part of the rule. */
  readonly advice?: string
}

/** The area of a problem. */
export type ProblemKind =
  // An entity: its decorators, columns and message.
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
  // Stored rows: the table, the DataSource and the database's collation.
  | 'table'
  | 'dataSource'
  | 'notInitialized'
  | 'deletion'
  | 'collation'
  // A server: its options, the methods of its services, and authorization rules.
  | 'option'
  | 'development'
  | 'service'
  | 'reference'
  | 'repository'
  | 'validation'
  | 'gateway'
  | 'rule'
  // A method without a handler.
  | 'noImplementation'
  | 'notStandard'
  | 'overwritesImmutable'
  | 'total'
  | 'restrictedWrap'
  | 'wrapWithoutRepository'
  | 'wrapOfNotStandard'
  | 'wrapOfOperation'
  | 'marked'
  // A problem that an authorizer, a worker or the application's own check reports.
  | 'own'

/** Returns a problem whose sentence consists of the rule and the advice. */
export const problem = (kind: ProblemKind, rule: string, advice?: string): Problem =>
  advice === undefined ? { kind, rule, text: rule } : { kind, rule, advice, text: `${rule}: ${advice}` }

/** Returns a problem of a property. The rule contains its name. */
export const propertyProblem = (
  kind: ProblemKind,
  property: string,
  rule: string,
  advice?: string,
): Problem => ({ ...problem(kind, rule, advice), property })

/** Returns the problems without duplicate sentences. */
export const distinctProblems = (problems: readonly Problem[]): readonly Problem[] => [
  ...new Map(problems.map((one) => [one.text, one])).values(),
]

/**
 * Returns the problems for an error about one entity. Problems of other entities have the entity's name in
 * their sentence.
 */
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
