import type { DescMethod, Message } from '@bufbuild/protobuf'
import type { Canaries } from '../leaks/canary.js'
import { unfitIn } from '../leaks/clean-text.js'
import { type ListenerClient, type Headers, type Outcome, WITHIN_MS } from '../wire/listener-clients.js'
import type { Findings } from './report.js'
import type { Subject } from './subjects.js'

const OPERATION = 'google.longrunning.Operation'

/** A caller of the check. */
export interface Caller {
  readonly headers: Headers
  /** Strings of other tenants, which must not occur in any response; undefined if none are known. */
  readonly mustNotSee: Canaries | undefined
}

/** Sends calls, and searches everything that their callers receive for strings of other tenants. */
export class Probe {
  calls = 0
  /** The names of operations started by calls. */
  readonly #operations = new Map<Headers, string[]>()

  constructor(
    readonly listeners: readonly ListenerClient[],
    readonly findings: Findings,
    private readonly subjects: readonly Subject[],
    /** Secrets and tokens, which no response may contain. */
    readonly secrets: Canaries,
  ) {}

  /** Sends a request to one listener. Resolves to undefined if the listener cannot express the request. */
  async send(
    listener: ListenerClient,
    desc: DescMethod,
    request: Message,
    { headers, mustNotSee }: Caller,
    { extra = {}, shows = false }: { readonly extra?: Headers; readonly shows?: boolean } = {},
  ): Promise<Outcome | undefined> {
    const outcome = await listener.send(desc, request, { ...headers, ...extra })
    if (outcome === undefined) return undefined
    this.calls++
    this.#note(outcome, headers)
    const path = `/${desc.parent.typeName}/${desc.name}`
    if (!outcome.isDone)
      this.findings.add(
        'no response',
        path,
        `a call gets no response within ${WITHIN_MS / 1000} s, or breaks the connection`,
        listener.name,
      )
    if (outcome.code !== 0) {
      const repositories = this.subjects.flatMap(({ repository }) => repository ?? [])
      const asked = desc.input.fields.map(({ name }) => name)
      const unfit = unfitIn(outcome.said, outcome.message, repositories, asked)
      if (unfit !== undefined)
        this.findings.add(
          'error text',
          path,
          `an error contains ${unfit}: throw the error classes of ashlar`,
          listener.name,
        )
    }
    if (!shows && this.secrets.isIn(outcome.said))
      this.findings.add('secret', path, 'a secret or a token is in what the caller receives', listener.name)
    if (mustNotSee?.isIn(outcome.said) === true)
      this.findings.add(
        'isolation',
        path,
        "what another tenant wrote is in the caller's response",
        listener.name,
      )
    return outcome
  }

  /** Returns the operations that this caller's calls have started. */
  operationsOf({ headers }: Caller): readonly string[] {
    return this.#operations.get(headers) ?? []
  }

  #note({ response }: Outcome, headers: Headers): void {
    if (response?.$typeName !== OPERATION) return
    const { name } = response as Message & { readonly name: string }
    const known = this.#operations.get(headers)
    if (known === undefined) this.#operations.set(headers, [name])
    else if (!known.includes(name)) known.push(name)
  }

  /** Sends a request to every listener that can express it. */
  async sendAll(
    desc: DescMethod,
    request: Message,
    caller: Caller,
    how: { readonly extra?: Headers; readonly shows?: boolean } = {},
  ): Promise<readonly Outcome[]> {
    const outcomes: Outcome[] = []
    for (const listener of this.listeners) {
      const outcome = await this.send(listener, desc, request, caller, how)
      if (outcome !== undefined) outcomes.push(outcome)
    }
    return outcomes
  }
}
