import { request } from 'node:http'
import { Failure, NO_RESPONSE } from '../idp-failure.js'

/** The timeout in milliseconds. A rotation generates a key, which takes a while on a busy machine. */
const TIMEOUT_MS = 30_000

/**
 * Sends a request to the running provider.
 *
 * @throws Failure with the provider's message, or if no provider is running.
 */
export async function callControl<T>(socketPath: string, path: string, body: object): Promise<T> {
  const { status, text } = await exchange(socketPath, path, JSON.stringify(body)).catch((error: unknown) => {
    const { code = '', message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ECONNREFUSED')
      throw new Failure(
        `no provider runs here (${socketPath}): start one with "ashlar-idp serve", or name its --state`,
        NO_RESPONSE,
      )
    if (code === 'EACCES')
      throw new Failure(`${socketPath} belongs to another user: run the command as that user`, NO_RESPONSE)
    throw new Failure(`the provider did not respond: ${message}`, NO_RESPONSE)
  })
  const value = JSON.parse(text) as T & { readonly error?: string }
  if (status !== 200) throw new Failure(value.error ?? `the provider refused with status ${status}`)
  return value
}

function exchange(socketPath: string, path: string, body: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const call = request(
      { socketPath, path, method: 'POST', signal: AbortSignal.timeout(TIMEOUT_MS), agent: false },
      (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (part: string) => (text += part))
        response.on('error', reject)
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
      },
    )
    call.on('error', reject)
    call.end(body)
  })
}
