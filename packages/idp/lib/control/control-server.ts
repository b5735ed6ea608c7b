import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Failure } from '../idp-failure.js'
import { bodyOf } from '../http/request-body.js'
import { listenPrivately } from './listen-privately.js'

/** The provider's operations for the user who runs it, by path. */
export type Controls = Readonly<
  Record<string, (request: Readonly<Record<string, unknown>>) => Promise<object>>
>

/** Serves the operations on a unix socket that only this user can open. */
export async function serveControls(path: string, controls: Controls): Promise<Server> {
  const server = createServer((request, response) => {
    void respond(controls, request, response)
  })
  await listenPrivately(server, path, 'ashlar-idp serve')
  return server
}

async function respond(
  controls: Controls,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const send = (status: number, value: object): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
  }
  try {
    const control = request.method === 'POST' ? controls[request.url ?? ''] : undefined
    if (control === undefined)
      return send(404, {
        error: 'the running provider does not support this command: it may be another version, so restart it',
      })
    const body = JSON.parse((await bodyOf(request)) || '{}') as Readonly<Record<string, unknown>>
    send(200, await control(body))
  } catch (error) {
    send(error instanceof Failure ? 422 : 500, { error: (error as Error).message })
  }
}
