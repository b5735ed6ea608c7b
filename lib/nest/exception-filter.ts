import type { ServerResponse } from 'node:http'
import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common'
import { AshlarError, CODES, httpHeadersOf, httpStatusOf } from '../errors.js'

/** The members that Express and Fastify responses share. */
interface Reply {
  status(status: number): this
  header(name: string, value: string): unknown
  send(body: object): unknown
  /** Set by Fastify. A reply of Express is itself the response. */
  readonly raw?: ServerResponse
}

/**
 * Converts repository errors in Nest's own routes to the gateway's responses: `{ code, message }` with the
 * status and headers of the error instead of a 500. Register it with `app.useGlobalFilters(new
 * AshlarExceptionFilter())`.
 */
@Catch(AshlarError)
export class AshlarExceptionFilter implements ExceptionFilter<AshlarError> {
  catch(error: AshlarError, host: ArgumentsHost): void {
    const reply = host.switchToHttp().getResponse<Reply & Partial<ServerResponse>>()
    // Without `raw` it is a response of Express, which extends Node's but has different types.
    const response = reply.raw ?? (reply as unknown as ServerResponse)
    // A response that has begun cannot be replaced. It is cut off so that it does not look complete.
    if (response.headersSent) return void response.destroy()
    for (const [name, value] of Object.entries(httpHeadersOf(error))) reply.header(name, value)
    reply.status(httpStatusOf(error)).send({ code: CODES[error.code], message: error.wireMessage })
  }
}
