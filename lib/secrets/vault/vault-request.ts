import { type Agent, type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { type RequestEnd } from './request-end.js'

/** The destination of a request. */
export interface Address {
  readonly href: string
  readonly hostname: string
  readonly port: string
  readonly path: string
}

/** @param text - an http or https URL. */
export function addressOf(text: string): Address {
  const { href, hostname, port, pathname } = new URL(text)
  // Node expects an IPv6 address without brackets.
  return { href, hostname: hostname.replace(/^\[|\]$/g, ''), port, path: pathname }
}

/** A request to a Vault server. */
export interface VaultRequest {
  readonly method: string
  readonly address: Address
  readonly headers: Readonly<Record<string, string>>
  /** The JSON body. Empty for a request without one. */
  readonly body: string
  readonly end: RequestEnd
}

/** A complete response. */
export interface VaultResponse {
  readonly statusCode: number
  /** The response body. Undefined if it is too long. */
  readonly text: string | undefined
  /** The value of the header `Retry-After`. */
  readonly retryAfter: string | undefined
}

/** Sends a request and reads its response. Redirects are returned like other responses. */
export type Exchange = (request: VaultRequest) => Promise<VaultResponse>

const MAX_RESPONSE_BYTES = 32 * 1024 * 1024
const MAX_ERROR_BYTES = 256 * 1024

const mostBytes = (statusCode: number): number => (statusCode === 200 ? MAX_RESPONSE_BYTES : MAX_ERROR_BYTES)

/**
 * Sends requests over connections that are kept alive. There are as many connections as concurrent requests,
 * at most 64. Idle connections do not keep the process alive.
 */
export function exchangeByAgent(agent: Agent, isHttps: boolean): Exchange {
  const open = isHttps ? httpsRequest : httpRequest
  const once = (asked: VaultRequest, reused: { isReused: boolean }): Promise<VaultResponse> =>
    new Promise((resolve, reject) => {
      const { method, address, headers, body, end } = asked
      const { hostname, port, path } = address
      const sent: ClientRequest = open({ method, agent, hostname, port, path, headers })
      end.onEnd(() => void sent.destroy(new Error('the call has ended')))
      sent.on('error', (error) => {
        reused.isReused = sent.reusedSocket
        reject(error)
      })
      sent.on('response', (response) => read(response, resolve, reject))
      // Node sets the length of a body that is passed to `end`.
      sent.end(body)
    })
  return async (asked) => {
    const reused = { isReused: false }
    for (;;)
      try {
        return await once(asked, reused)
      } catch (error) {
        // The server may close an idle connection at the moment of its next use. The request is sent again,
        // because requests change nothing in the transit engine.
        if (!reused.isReused || asked.end.isOver || !isReset(error)) throw error
        reused.isReused = false
      }
  }
}

const isReset = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE')

function read(
  response: IncomingMessage,
  resolve: (response: VaultResponse) => void,
  reject: (error: Error) => void,
): void {
  const { statusCode = 0, headers } = response
  const limit = mostBytes(statusCode)
  const chunks: Buffer[] = []
  let size = 0
  const end = (text: string | undefined) => resolve({ statusCode, text, retryAfter: headers['retry-after'] })
  response.on('data', (chunk: Buffer) => {
    size += chunk.length
    chunks.push(chunk)
    if (size <= limit) return
    end(undefined)
    response.destroy()
  })
  response.on('end', () => end((chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))?.toString() ?? ''))
  response.on('error', reject)
}

/** Sends requests with the application's own `fetch`. */
export const exchangeByFetch =
  (fetchOf: typeof fetch): Exchange =>
  async ({ method, address, headers, body, end }) => {
    const response = await fetchOf(address.href, {
      method,
      headers,
      ...(body !== '' && { body }),
      redirect: 'manual',
      signal: end.signal,
    })
    return {
      statusCode: response.status,
      text: await readAtMost(response, mostBytes(response.status)),
      retryAfter: response.headers.get('retry-after') ?? undefined,
    }
  }

async function readAtMost(response: Response, limit: number): Promise<string | undefined> {
  const chunks: Uint8Array[] = []
  let size = 0
  // Leaving the loop early cancels the rest of the body.
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > limit) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
