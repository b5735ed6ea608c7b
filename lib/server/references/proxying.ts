import type { DescMethod, Message } from '@bufbuild/protobuf'
import type { Metadata as NiceMetadata } from 'nice-grpc'
import type { Dispatcher, Incoming } from '../../call.js'
import { AshlarError, Cancelled, DeadlineExceeded, InvalidArgument } from '../../errors.js'
import { IDENTITY_HEADERS, SINGLE_HEADERS } from '../../gateway/http/metadata-of.js'
import { requestIdFrom } from '../../text/request-id-from.js'
import { pathOf } from '../chain/method.js'
import { sentTwice } from '../interceptors/tenant-id.js'
import type { Logger } from '../observability/logger.js'
import type { ExternalTarget } from './external-target.js'
import { metadataFor, streamOf, type TargetCall, unaryOf } from './target-calls.js'
import { targetError } from './target-error.js'
import { MAX_TIMER_MS } from '../../bounds/timer-limit.js'

/** The parts of the server that forwarding uses. */
export interface ProxyParts {
  /** The headers that identify the caller if there is no authenticator. */
  readonly identity: readonly string[]
  readonly timeoutMsOf: (method: { readonly path: string }) => number
  readonly logger: Logger
}

/** The metadata that the target receives in addition to the names in its options. */
const HANDED_ON = ['if-match', 'idempotency-key'] as const
const IDENTITY: ReadonlySet<string> = new Set(IDENTITY_HEADERS)
const DETAILS = 'grpc-status-details-bin'

/**
 * Returns a dispatcher that forwards calls of proxied methods to their process. The target authenticates,
 * authorizes and rate-limits them. Other calls run in this server.
 */
export function proxying(
  own: Dispatcher,
  methods: ReadonlyMap<DescMethod, ExternalTarget>,
  parts: ProxyParts,
): Dispatcher {
  if (methods.size === 0) return own
  return {
    limits: own.limits,
    unary(incoming, request) {
      const target = methods.get(incoming.method)
      if (target === undefined) return own.unary(incoming, request)
      return handOn(new Forwarding(incoming, target, parts), request as Message, own.limits.maxResponseBytes)
    },
    stream(incoming, requests) {
      const target = methods.get(incoming.method)
      if (target === undefined) return own.stream(incoming, requests)
      return handOnStream(new Forwarding(incoming, target, parts), requests as AsyncIterable<Message>)
    },
  }
}

async function handOn(forwarding: Forwarding, request: Message, maxBytes: number): Promise<void> {
  try {
    const whole = await forwarding.whole(request)
    const { target, incoming } = forwarding
    incoming.encode(await unaryOf(target, incoming.method)(whole, forwarding.begin()), maxBytes)
  } catch (error) {
    throw forwarding.fail(error)
  } finally {
    forwarding.end()
  }
}

async function* handOnStream(
  forwarding: Forwarding,
  requests: AsyncIterable<Message>,
): AsyncGenerator<Message> {
  try {
    for await (const request of requests) {
      const { target, incoming } = forwarding
      yield* streamOf(target, incoming.method)(await forwarding.whole(request), forwarding.begin())
    }
  } catch (error) {
    throw forwarding.fail(error)
  } finally {
    forwarding.end()
  }
}

/** One call that is being forwarded. */
class Forwarding {
  readonly #requestId: string
  readonly #since = performance.now()
  readonly #deadline: number | undefined
  readonly #ended = new AbortController()
  #timer: NodeJS.Timeout | undefined
  #details: Uint8Array | undefined
  #error: AshlarError | undefined

  constructor(
    readonly incoming: Incoming,
    readonly target: ExternalTarget,
    private readonly parts: ProxyParts,
  ) {
    const { method, deadline } = incoming
    this.#requestId = requestIdFrom(incoming.metadata.get('x-request-id'))
    incoming.headers.set('x-request-id', this.#requestId)
    const mostMs = method.methodKind === 'unary' ? parts.timeoutMsOf({ path: pathOf(method) }) : Infinity
    const until = Math.min(deadline ?? Infinity, Date.now() + mostMs)
    this.#deadline = Number.isFinite(until) ? until : undefined
  }

  /**
   * Returns the request with its body.
   * @throws the error of an invalid request.
   */
  async whole(request: Message): Promise<Message> {
    const { metadata, unreadable, rest, ignoredMask, held } = this.incoming
    const repeated = metadata.repeatedOf(SINGLE_HEADERS)
    if (repeated !== undefined) throw sentTwice(repeated)
    if (unreadable !== undefined) throw unreadable
    const read = rest === undefined ? { request, ignoredMask: ignoredMask ?? [] } : await rest.read()
    if (read.ignoredMask.length > 0)
      throw new InvalidArgument(
        'update_mask',
        'another server would not know these paths: send one update_mask parameter for each field, by its proto name',
      )
    held?.unauthenticated.authenticated(held)
    return read.request
  }

  begin(): TargetCall {
    const { incoming, target, parts } = this
    const named = target.metadata.filter((name) => !IDENTITY.has(name))
    const metadata = metadataFor([...named, ...HANDED_ON, ...parts.identity], {
      metadata: incoming.metadata,
      requestId: this.#requestId,
      deadline: this.#deadline,
    })
    if (this.#deadline !== undefined) {
      const ms = Math.min(Math.max(0, this.#deadline - Date.now()), MAX_TIMER_MS)
      this.#timer = setTimeout(() => this.#ended.abort(), ms)
    }
    incoming.caller.onGone(() => this.#ended.abort())
    if (incoming.caller.isGone) this.#ended.abort()
    return {
      metadata,
      signal: this.#ended.signal,
      onHeader: (header) => this.#take(header),
      onTrailer: (trailer) => this.#take(trailer),
    }
  }

  /** Records and returns the error that the caller receives. */
  fail(thrown: unknown): AshlarError {
    return (this.#error = this.#reported(thrown))
  }

  /** Logs the call. A stream that the caller leaves early is not read any further. */
  end(): void {
    clearTimeout(this.#timer)
    const { incoming, target, parts } = this
    incoming.caller.onGone(undefined)
    this.#ended.abort()
    const code = this.#error?.code ?? 'OK'
    const fields = {
      method: pathOf(incoming.method),
      code,
      type: target.type,
      durationMs: Math.round((performance.now() - this.#since) * 1000) / 1000,
      requestId: this.#requestId,
      transport: incoming.transport,
      peer: incoming.peer,
    }
    if (code === 'UNAVAILABLE' || code === 'INTERNAL') parts.logger.error(fields, 'proxied rpc')
    else parts.logger.info(fields, 'proxied rpc')
  }

  #reported(thrown: unknown): AshlarError {
    const { caller } = this.incoming
    if (caller.isGone) return caller.reason ?? new Cancelled()
    if (thrown instanceof AshlarError) return thrown
    if (this.#deadline !== undefined && Date.now() >= this.#deadline) return new DeadlineExceeded()
    return targetError(this.target.type, thrown, this.#details)
  }

  /** Copies the target's metadata that the gateway would also send for its own calls. */
  #take(sent: NiceMetadata): void {
    const { headers, trailers } = this.incoming
    for (const [name, values] of sent) {
      if (name === DETAILS) this.#details = sent.get(name) as Uint8Array | undefined
      if (name.endsWith('-bin') || name === 'x-request-id') continue
      const to = name === 'etag' ? trailers : headers
      for (const value of values) to.append(name, String(value))
    }
  }
}
