/** The kind of a finding. */
export type SecurityCheckName =
  /** A method has neither a rule nor `public`, or two rules contradict each other. */
  | 'rule'
  /** A rule's resource template names a field that the request does not have. */
  | 'template'
  /** A rule is for a method that is not served. */
  | 'stray rule'
  /** A method is public but not listed in `publicMethods`. */
  | 'public'
  /** A field looks like a secret and is not marked as one. */
  | 'unmarked secret'
  /** A caller without an identity or without grants was not denied. */
  | 'denial'
  /** One tenant can access or detect a resource of another. */
  | 'isolation'
  /** An error contains internal text of the database or the program. */
  | 'error text'
  /** A secret or a credential leaked. */
  | 'secret'
  /** A call received no response. */
  | 'no response'
  /** A standard method could not be tested. */
  | 'unchecked'

/** A finding of the security check. */
export interface SecurityFinding {
  readonly check: SecurityCheckName
  /** Full gRPC method name; empty if the finding concerns no method. */
  readonly method: string
  /** The listener of the call; empty if the finding concerns no call. */
  readonly transport: 'grpc' | 'http' | ''
  /** The finding and advice. It contains no secret. */
  readonly text: string
}

/** Reasons for accepting findings, by full gRPC method name and text of the finding. */
export type Accepted = Readonly<Record<string, Readonly<Record<string, string>>>>

/** A finding that the options accept. */
export interface AcceptedFinding extends SecurityFinding {
  readonly reason: string
}

/** A method, or a part of one, that was not checked, with the reason. */
export interface NotChecked {
  readonly method: string
  readonly reason: string
}

/** The result of a security check. */
export interface SecurityReport {
  /** True if there are no findings except accepted ones. */
  readonly passed: boolean
  readonly findings: readonly SecurityFinding[]
  /** The findings that `accept` lists. */
  readonly accepted: readonly AcceptedFinding[]
  readonly notChecked: readonly NotChecked[]
  /** The number of served methods. */
  readonly methods: number
  /** The number of calls that were made. */
  readonly calls: number
}

/** Collects findings, at most one of each kind per method and listener. */
export class Findings {
  readonly #findings = new Map<string, SecurityFinding>()
  readonly #notChecked = new Map<string, NotChecked>()

  constructor(private readonly accept: Accepted) {}

  add(
    check: SecurityCheckName,
    method: string,
    text: string,
    transport: SecurityFinding['transport'] = '',
  ): void {
    const key = [check, method, text].join('\n')
    if (!this.#findings.has(key)) this.#findings.set(key, { check, method, transport, text })
  }

  has(check: SecurityCheckName, method: string): boolean {
    return [...this.#findings.values()].some((one) => one.check === check && one.method === method)
  }

  leaveOut(method: string, reason: string): void {
    this.#notChecked.set(`${method}\n${reason}`, { method, reason })
  }

  report(facts: Pick<SecurityReport, 'methods' | 'calls'>): SecurityReport {
    const all = [...this.#findings.values()].sort(
      (a, b) => compare(a.method, b.method) || compare(a.check, b.check) || compare(a.text, b.text),
    )
    const notChecked = [...this.#notChecked.values()].sort(
      (a, b) => compare(a.method, b.method) || compare(a.reason, b.reason),
    )
    const findings: SecurityFinding[] = []
    const accepted: AcceptedFinding[] = []
    for (const one of all) {
      const reason = this.accept[one.method]?.[one.text]
      if (reason === undefined) findings.push(one)
      else accepted.push({ ...one, reason })
    }
    return { passed: findings.length === 0, findings, accepted, notChecked, ...facts }
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
