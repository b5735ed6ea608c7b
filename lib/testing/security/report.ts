/** What a finding is about. */
export type SecurityCheckName =
  /** A method has neither a rule nor a public exemption, or two rules contradict each other. */
  | 'rule'
  /** A rule's resource template names no field of the request. */
  | 'template'
  /** A rule is for a method that nobody serves. */
  | 'stray rule'
  /** A method is public and nobody said that it is meant to be. */
  | 'public'
  /** A field looks like a secret and is not marked as one. */
  | 'unmarked secret'
  /** Somebody without an identity, or whom no grant knows, was not denied. */
  | 'denial'
  /** One tenant reaches, or learns of, what is another's. */
  | 'isolation'
  /** An error says what is the database's or the program's own. */
  | 'error text'
  /** A secret or a credential came out. */
  | 'secret'
  /** A call was not answered at all. */
  | 'no answer'
  /** A standard method that could not be put to the test. */
  | 'unchecked'

/** Something that must not be. */
export interface SecurityFinding {
  readonly check: SecurityCheckName
  /** gRPC full method name; empty where it is about none. */
  readonly method: string
  /** By which listener it was seen; empty where it is about no call. */
  readonly transport: 'grpc' | 'http' | ''
  /** What was seen, and what to do. No secret is in it. */
  readonly text: string
}

/** A method, or a part of it, that was left out, and why. */
export interface NotChecked {
  readonly method: string
  readonly reason: string
}

/** What a security check came to. */
export interface SecurityReport {
  /** Whether there is no finding. */
  readonly passed: boolean
  readonly findings: readonly SecurityFinding[]
  readonly notChecked: readonly NotChecked[]
  /** How many methods are served. */
  readonly methods: number
  /** How many calls were made. */
  readonly calls: number
}

/** Collects findings: one of a kind for each method and listener is enough. */
export class Findings {
  readonly #findings = new Map<string, SecurityFinding>()
  readonly #notChecked = new Map<string, NotChecked>()

  add(
    check: SecurityCheckName,
    method: string,
    text: string,
    transport: SecurityFinding['transport'] = '',
  ): void {
    const key = [check, method, text].join('\n')
    if (!this.#findings.has(key)) this.#findings.set(key, { check, method, transport, text })
  }

  leaveOut(method: string, reason: string): void {
    this.#notChecked.set(`${method}\n${reason}`, { method, reason })
  }

  report(facts: Pick<SecurityReport, 'methods' | 'calls'>): SecurityReport {
    const findings = [...this.#findings.values()].sort(
      (a, b) => compare(a.method, b.method) || compare(a.check, b.check) || compare(a.text, b.text),
    )
    const notChecked = [...this.#notChecked.values()].sort(
      (a, b) => compare(a.method, b.method) || compare(a.reason, b.reason),
    )
    return { passed: findings.length === 0, findings, notChecked, ...facts }
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
