import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { bodyOf } from '../http/request-body.js'
import { parseDuration, quoted } from './parse-duration.js'
import { InvalidHost, type Registry, RouteConflict } from './kept-routes.js'
import { routeInBody, routeJson } from './route-json.js'

type Call = (
  request: IncomingMessage,
  response: ServerResponse,
  name: string,
  query: URLSearchParams,
) => Promise<void> | void

const LARGEST_BODY_BYTES = 1 << 20

/** The methods of a path. */
interface Resource {
  readonly path: RegExp
  readonly methods: Readonly<Record<string, Call>>
}

/** Serves the registry over HTTP with the daemon's protocol. */
export function daemonOf(registry: Registry): RequestListener {
  const resources: readonly Resource[] = [
    { path: /^\/v1\/routes$/, methods: { GET: list, PUT: put } },
    { path: /^\/v1\/routes\/([^/]+)$/, methods: { GET: get, DELETE: remove } },
    { path: /^\/v1\/projects\/([^/]+)$/, methods: { DELETE: removeProject } },
    { path: /^\/v1\/status$/, methods: { GET: status } },
  ]
  return (request, response) => {
    const [path = '', ...query] = (request.url ?? '').split('?')
    const resource = resources.find((one) => one.path.test(path))
    if (resource === undefined) return plain(response, 404, '404 page not found')
    const { method = '' } = request
    const call = resource.methods[method === 'HEAD' ? 'GET' : method]
    if (call === undefined) {
      const allowed = Object.keys(resource.methods).flatMap((one) =>
        one === 'GET' ? ['GET', 'HEAD'] : [one],
      )
      response.setHeader('allow', allowed.sort().join(', '))
      return plain(response, 405, 'Method Not Allowed')
    }
    const name = decoded(resource.path.exec(path)?.[1] ?? '')
    if (name === undefined) return plain(response, 404, '404 page not found')
    const called = async () => call(request, response, name, new URLSearchParams(query.join('?')))
    void called().catch((error: unknown) => {
      if (error instanceof RangeError && !response.headersSent)
        return plain(response, 413, 'http: request body too large')
      response.destroy()
    })
  }

  function list(_request: IncomingMessage, response: ServerResponse): void {
    json(
      response,
      200,
      `[${registry
        .list()
        .map((route) => routeJson(route, route))
        .join(',')}]`,
    )
  }

  async function put(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request, LARGEST_BODY_BYTES)
    let route: ReturnType<typeof routeInBody>
    try {
      route = routeInBody(body)
    } catch (error) {
      return plain(response, 400, `invalid json: ${(error as Error).message}`)
    }
    if (route.host === '' || route.upstream === '')
      return plain(response, 400, 'host and upstream are required')
    let ttl = 0n
    try {
      if (route.ttl !== '') ttl = parseDuration(route.ttl)
    } catch (error) {
      return plain(
        response,
        400,
        `invalid ttl: invalid duration ${quoted(route.ttl)}: ${(error as Error).message}`,
      )
    }
    try {
      json(response, 201, routeJson(registry.register({ ...route, ttl })))
    } catch (error) {
      if (error instanceof RouteConflict) return plain(response, 409, error.message)
      if (error instanceof InvalidHost) return plain(response, 400, error.message)
      throw error
    }
  }

  function get(
    _request: IncomingMessage,
    response: ServerResponse,
    host: string,
    query: URLSearchParams,
  ): void {
    const route = registry.lookup(host, query.get('path') || '/')
    if (route === undefined) return plain(response, 404, 'not found')
    json(response, 200, routeJson(route, route))
  }

  function remove(
    _request: IncomingMessage,
    response: ServerResponse,
    host: string,
    query: URLSearchParams,
  ): void {
    if (!registry.deregister(host, query.get('path') || undefined)) return plain(response, 404, 'not found')
    response.writeHead(204).end()
  }

  function removeProject(_request: IncomingMessage, response: ServerResponse, project: string): void {
    json(response, 200, `{"removed":${registry.deregisterProject(project)}}`)
  }

  function status(_request: IncomingMessage, response: ServerResponse): void {
    json(
      response,
      200,
      `{"commit":"unknown","routes":${registry.list().length},"status":"running","version":"dev"}`,
    )
  }
}

/**
 * Rejects requests whose `Host` is not this machine, because a foreign domain can resolve to it (DNS
 * rebinding).
 */
export const onlyLocal =
  (handle: RequestListener): RequestListener =>
  (request, response) => {
    if (/^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i.test(request.headers.host ?? ''))
      return handle(request, response)
    plain(response, 403, 'the daemon serves localhost only')
  }

function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}

function json(response: ServerResponse, code: number, text: string): void {
  const body = `${text}\n`
  response
    .writeHead(code, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
    .end(body)
}

function plain(response: ServerResponse, code: number, text: string): void {
  const body = `${text}\n`
  response
    .writeHead(code, {
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'content-length': Buffer.byteLength(body),
    })
    .end(body)
}
