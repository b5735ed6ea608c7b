import { request } from 'node:http'
import { CONFLICT, Failure, NO_RESPONSE } from '../idp-failure.js'
import type { EdgeHome } from './edge-home.js'

const TIMEOUT_MS = 5_000
const LARGEST_BYTES = 8 << 20
const NONE = ['ENOENT', 'ECONNREFUSED']

/** The properties of a route in the daemon's list. */
export type ListedRoute = Readonly<Record<string, unknown>>

/**
 * Returns the routes of the running daemon, or undefined if none is running.
 *
 * @throws Failure if the response is not a list.
 */
export async function listedRoutes(home: EdgeHome): Promise<readonly ListedRoute[] | undefined> {
  const response = await callEdge(home, 'GET', undefined)
  if (response === undefined) return undefined
  const list = response.status === 200 ? parsed(response.text) : undefined
  if (!Array.isArray(list))
    throw new Failure(
      `the program that listens at ${home.socketPath} is not an edge: stop it, or set DEVEDGE_HOME`,
      NO_RESPONSE,
    )
  return list.filter((one): one is ListedRoute => typeof one === 'object' && one !== null)
}

/**
 * Registers a route.
 *
 * @throws Failure if no daemon is running, or if another owner has the route.
 */
export async function registerRoute(home: EdgeHome, route: object): Promise<void> {
  const response = await callEdge(home, 'PUT', JSON.stringify(route))
  if (response === undefined)
    throw new Failure('the edge stopped before the route was registered: try again', NO_RESPONSE)
  if (response.status === 201 || response.status === 200) return
  throw new Failure(
    `the edge rejected the route: ${response.text.trim().slice(0, 200)}`,
    response.status === 409 ? CONFLICT : NO_RESPONSE,
  )
}

interface EdgeResponse {
  readonly status: number
  readonly text: string
}

/** Calls the daemon on its socket or TCP address. */
async function callEdge(
  home: EdgeHome,
  method: string,
  body: string | undefined,
): Promise<EdgeResponse | undefined> {
  for (const address of [{ socketPath: home.socketPath }, { host: home.host, port: home.port }]) {
    try {
      return await exchange(address, method, body)
    } catch (error) {
      const { code = '', message } = error as NodeJS.ErrnoException
      if (!NONE.includes(code)) throw new Failure(`the edge does not respond: ${message}`, NO_RESPONSE)
    }
  }
  return undefined
}

function exchange(address: object, method: string, body: string | undefined): Promise<EdgeResponse> {
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { 'content-type': 'application/json' }
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const call = request(
      { ...address, path: '/v1/routes', method, headers, signal, agent: false },
      (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (part: string) => {
          text += part
          if (text.length > LARGEST_BYTES) call.destroy(new Error('its response is larger than 8 MiB'))
        })
        response.on('error', reject)
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
      },
    )
    call.on('error', reject)
    call.end(body)
  })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
