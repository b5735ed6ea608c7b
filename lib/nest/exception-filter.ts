import type { ServerResponse } from 'node:http'
import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common'
import { AshlarError, CODES, httpHeadersOf, httpStatusOf } from '../errors.js'

/** The members that Express and Fastify responses share. */
interface Reply {
  status(status: number): this
  header(name: string, value: string): unknown
  send(body: object): unknown
  /** Set by Fastify; a reply of Express is the response itself. */
  readonly raw?: ServerResponse
}

/**
 * Returns errors of repositories in Nest's own routes as the gateway does: `{ code, message }` with the
 * status and headers of the error, instead of a 500. Use it with
 * `app.useGlobalFilters(new AshlarExceptionFilter())`.
 */
@Catch(AshlarError)
export class AshlarExceptionFilter implements ExceptionFilter<AshlarError> {
  catch(error: AshlarError, host: ArgumentsHost): void {
    const reply = host.switchToHttp().getResponse<Reply & Partial<ServerResponse>>()
    // Without `raw` it is Express', which is a response of Node and has methods of other types beside.
    const response = reply.raw ?? (reply as unknown as ServerResponse)
    // A response that has begun cannot become another one; cut off, it cannot be taken for a complete one.
    if (response.headersSent) return void response.destroy()
    for (const [name, value] of Object.entries(httpHeadersOf(error))) reply.header(name, value)
    reply.status(httpStatusOf(error)).send({ code: CODES[error.code], message: error.wireMessage })
  }
}
