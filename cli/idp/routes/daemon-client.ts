import { request } from 'node:http'
import { Failure } from '../../errors/failure.js'
import { terminalLine } from '../../output/terminal-line.js'
import { type DaemonAddress, showAddress } from './daemon-address.js'

/** The daemon's complete response. */
export interface DaemonResponse {
  readonly status: number
  readonly body: string
}

/** The time for one call in milliseconds, from connecting to the last byte. */
export const CALL_TIMEOUT_MS = 5_000

const LARGEST_RESPONSE_BYTES = 8 << 20
const NO_LISTENER = ['ENOENT', 'ECONNREFUSED']

/**
 * Sends one request. Resolves to undefined if nothing listens at the address.
 * @throws Failure if no complete HTTP response arrives in time.
 */
export async function callDaemon(
  address: DaemonAddress,
  call: { readonly method: 'GET' | 'PUT'; readonly path: string; readonly json?: unknown },
  timeoutMs = CALL_TIMEOUT_MS,
): Promise<DaemonResponse | undefined> {
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    return await exchange(address, call, signal)
  } catch (error) {
    if (error instanceof Failure) throw error
    const { code = '', message } = error as NodeJS.ErrnoException
    if (NO_LISTENER.includes(code)) return undefined
    const daemon = `the daemon at ${showAddress(address)}`
    const advice = 'restart it, or stop it to continue without it'
    if (signal.aborted)
      throw new Failure('daemon', `${daemon} did not respond in ${timeoutMs / 1000} s: ${advice}`)
    if (code === 'EACCES')
      throw new Failure('daemon', `${daemon} rejects the connection: check who owns the socket`)
    if (code.startsWith('HPE_') || code === 'ECONNRESET' || code === 'EPIPE')
      throw new Failure('daemon', `${daemon} does not speak HTTP (${code}): ${advice}`, { cause: error })
    throw new Failure('daemon', `${daemon} cannot be called: ${terminalLine(message)}`, { cause: error })
  }
}

/** Returns the daemon's own error message for a rejected request, made safe for a terminal. */
export const refusal = ({ status, body }: DaemonResponse): string =>
  terminalLine(body, 200) || `status ${status}`

function exchange(
  address: DaemonAddress,
  { method, path, json }: { readonly method: string; readonly path: string; readonly json?: unknown },
  signal: AbortSignal,
): Promise<DaemonResponse> {
  const payload = json === undefined ? undefined : Buffer.from(JSON.stringify(json))
  const headers =
    payload === undefined ? {} : { 'content-type': 'application/json', 'content-length': payload.length }
  return new Promise((resolve, reject) => {
    const call = request({ ...address, method, path, headers, signal, agent: false }, (response) => {
      const chunks: Buffer[] = []
      let bytes = 0
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        chunks.push(chunk)
        if (bytes <= LARGEST_RESPONSE_BYTES) return
        const what = `the daemon at ${showAddress(address)} returned more than 8 MiB: is it the devedge daemon?`
        call.destroy(new Failure('daemon', what))
        reject(new Failure('daemon', what))
      })
      response.on('error', reject)
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') }),
      )
    })
    call.on('error', reject)
    call.end(payload)
  })
}
