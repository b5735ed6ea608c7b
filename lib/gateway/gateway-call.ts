import type { IncomingMessage, ServerResponse } from 'node:http'
import { create, type Message, type Registry } from '@bufbuild/protobuf'
import { AshlarError, Internal, InvalidArgument } from '../errors.js'
import { errorForLog } from '../faults/driver-fault.js'
import { checkMaskPaths } from '../resource/mask-paths.js'
import type { Caller, Incoming } from '../call.js'
import type { UnauthenticatedBytes } from '../bounds/unauthenticated-bytes.js'
import type { Binding } from './routing/bindings.js'
import { Body, hasBody } from './http/body.js'
import { sendContinue } from './http/continue.js'
import { checkIfNoneMatch, etagHeader, matchesWeakly } from '../if-match.js'
import type { GatewayOptions } from './gateway-options.js'
import { OwnStatusError } from './http/own-status-error.js'
import { isSendable } from './http/metadata-of.js'
import { ignoredMaskHeader } from './transcoding/ignored-mask.js'
import { HttpIncoming } from './incoming.js'
import { isUnaskedFromPage } from './http/cors.js'
import { addVary, keepAllPrivate, keepPrivate, NOSNIFF, type ResponseHeaders, send } from './http/respond.js'
import type { Match } from './routing/route-table.js'
import { framingOf, sendStream } from './streaming.js'
import { type Content, toContent, toRequest } from './transcode.js'
import { type IgnoredPath, sortMask } from './transcoding/update-mask-forms.js'

/** The parts that all calls of a gateway share. */
export interface CallSetup {
  readonly options: GatewayOptions
  readonly registry: Registry
  /** Request headers that become metadata. */
  readonly forwarded: readonly string[]
  /** Response metadata that becomes headers. */
  readonly responseHeaders: readonly string[]
  readonly unauthenticated: UnauthenticatedBytes
}

const NO_BODY = Buffer.alloc(0)

/**
 * Runs the call of a request and sends its response. Throws an error that the caller has not received yet.
 */
export async function call(
  setup: CallSetup,
  { target: binding, segments }: Match<Binding>,
  query: string,
  request: IncomingMessage,
  response: ServerResponse,
  caller: Caller,
): Promise<void> {
  checkMethod(binding, request)
  const { options, registry } = setup
  const { limits } = options.dispatcher
  const contentType = request.headers['content-type']
  const isFromPage = request.method === 'POST' && isUnaskedFromPage(options.cors, request)
  const parts = { segments, query, contentType, isFromPage }
  let ignored: readonly IgnoredPath[] = []
  const read = (bytes: Buffer): Message => {
    const whole = toRequest(binding, parts, bytes, registry, limits)
    if (binding.readMask !== undefined) checkMaskPaths('read_mask', binding.readMask.paths(whole))
    ignored = ignoredPaths(setup, binding, whole, request, response)
    return whole
  }
  const body = hasBody(request)
    ? new Body(request, options.maxBodyBytes, caller, setup.unauthenticated)
    : undefined
  let early: Buffer | undefined
  let incoming: HttpIncoming | undefined
  try {
    early = body === undefined ? NO_BODY : await body.beginning()
    let message: Message
    let unreadable: Error | undefined
    try {
      message = early === undefined ? toRequest(binding, parts, NO_BODY, registry, limits) : read(early)
    } catch (error) {
      unreadable = error as Error
      message = create(binding.method.input)
    }
    incoming = new HttpIncoming(binding, message, registry, request, caller, setup.forwarded)
    incoming.unreadable = unreadable
    if (ignored.length > 0) incoming.ignoredMask = ignored.map(pathOf)
    incoming.held = body
    if (early === undefined && body !== undefined)
      incoming.rest = {
        knows: (field) => isKnown(binding, field),
        read: async () => {
          sendContinue(request, response)
          const whole = read(await body.whole())
          return { request: Object.assign(message, whole), ignoredMask: ignored.map(pathOf) }
        },
      }
    if (binding.method.methodKind === 'unary') await unary(setup, incoming, message, request, response)
    else await stream(setup, binding, incoming, message, request, response)
  } finally {
    if (early === undefined) body?.drop()
    else if (body !== undefined) setup.unauthenticated.authenticated(body)
    if (isRead(request) && !response.headersSent) keepAllPrivate(response)
    if (incoming !== undefined) {
      if (!response.headersSent) copyHeaders(setup, incoming, response)
      if (ignored.length > 0) reportIgnored(options, incoming, ignored)
    }
  }
}

/**
 * Returns true if the body cannot change the field's value, so that the value is known before the body is
 * read.
 */
function isKnown({ bound }: Binding, field: string): boolean {
  if (bound.path.has(field)) return true
  return bound.body === '' || (bound.body !== '*' && field.split('.', 1)[0] !== bound.body)
}

function checkMethod({ method, httpMethod }: Binding, request: IncomingMessage): void {
  if (request.method === 'HEAD' && method.methodKind === 'server_streaming')
    throw new OwnStatusError(405, 'UNIMPLEMENTED', 'a stream has no HEAD', { allow: httpMethod })
  const ifNoneMatch = request.headers['if-none-match']
  if (ifNoneMatch === undefined) return
  if (request.method !== 'GET' && request.method !== 'HEAD')
    throw new InvalidArgument('', 'If-None-Match is supported on GET and HEAD only')
  checkIfNoneMatch(ifNoneMatch)
}

const isRead = ({ method }: IncomingMessage): boolean => method === 'GET' || method === 'HEAD'

async function unary(
  { options, responseHeaders }: CallSetup,
  incoming: HttpIncoming,
  message: Message,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  await options.dispatcher.unary(incoming, message)
  const { contentType, body } = incoming.content as Content
  const etag = etagHeader(incoming.trailers.get('etag'))
  const headers = reportedBy(responseHeaders, incoming, response)
  if (etag !== undefined) headers['etag'] = etag
  if (etag !== undefined || isRead(request)) keepPrivate(response, headers)
  const ifNoneMatch = request.headers['if-none-match']
  if (ifNoneMatch !== undefined && matchesWeakly(ifNoneMatch, etag))
    return send(request, response, { status: 304, headers, body: undefined }, false)
  headers['content-type'] = contentType
  headers['x-content-type-options'] = NOSNIFF['x-content-type-options']
  return send(request, response, { status: 200, headers, body }, options.compress)
}

async function stream(
  setup: CallSetup,
  binding: Binding,
  incoming: HttpIncoming,
  message: Message,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const isRaw = binding.responseBody === undefined && binding.method.output.typeName === 'google.api.HttpBody'
  await sendStream(response, setup.options.dispatcher.stream(incoming, only(message)), {
    framing: isRaw ? 'raw' : framingOf(request.headers.accept),
    toContent: (each) => {
      try {
        const { maxResponseBytes: maxCharacters } = setup.options.dispatcher.limits
        return toContent(binding, message, each, { registry: setup.registry, maxCharacters })
      } catch (error) {
        // Reports the error that the caller receives to the call's log.
        incoming.caller.leave(error instanceof AshlarError ? error : new Internal(error))
        throw error
      }
    },
    beforeHeaders: () => copyHeaders(setup, incoming, response),
    onFailure: (error) =>
      setup.options.logger?.error(
        { ...namesOf(incoming), err: errorForLog(error) },
        'the gateway failed in a stream',
      ),
  })
}

/** Yields a single request as a stream. */
async function* only(message: Message): AsyncIterable<Message> {
  yield await Promise.resolve(message)
}

function ignoredPaths(
  { options }: CallSetup,
  { mask }: Binding,
  message: Message,
  request: IncomingMessage,
  response: ServerResponse,
): readonly IgnoredPath[] {
  if (mask === undefined) return []
  const isStrict = /(?:^|[,;\s])handling\s*=\s*"?strict\b/i.test(String(request.headers.prefer ?? ''))
  if (isStrict) response.setHeader('preference-applied', 'handling=strict')
  const ignored = sortMask(message, mask, isStrict ? 'strict' : options.updateMask)
  if (ignored.length > 0) response.setHeader('x-ignored-update-mask', ignoredMaskHeader(ignored))
  return ignored
}

function reportIgnored(
  { logger, onIgnoredMask }: GatewayOptions,
  incoming: Incoming,
  ignored: readonly IgnoredPath[],
): void {
  onIgnoredMask?.(incoming.method, ignored.map(pathOf))
  logger?.warn({ ...namesOf(incoming), ignored }, 'update_mask paths were ignored')
}

/** Returns the fields that identify the call in a log line. */
const namesOf = ({ method, headers }: Incoming): object => ({
  method: `${method.parent.typeName}/${method.name}`,
  requestId: headers.get('x-request-id'),
})

const pathOf = ({ path }: IgnoredPath): string => path

function copyHeaders({ responseHeaders }: CallSetup, incoming: Incoming, response: ServerResponse): void {
  for (const [name, value] of Object.entries(reportedBy(responseHeaders, incoming, response)))
    response.setHeader(name, value)
}

/**
 * Returns the response metadata that becomes headers. `Vary` is merged with the response's existing value.
 */
function reportedBy(
  names: readonly string[],
  { headers }: Incoming,
  response: ServerResponse,
): ResponseHeaders {
  const sent: ResponseHeaders = {}
  for (const name of names) {
    const values = headers.getAll(name)
    if (values.length === 0) continue
    const sendable = values.filter(isSendable)
    if (name === 'vary') for (const value of sendable) addVary(response, value)
    else if (sendable.length > 0) sent[name] = sendable.length === 1 ? (sendable[0] ?? '') : sendable
  }
  return sent
}
