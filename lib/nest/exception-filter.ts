import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common'
import { AshlarError, CODES, HTTP_STATUS } from '../errors.js'

/** What Express and Fastify have in common. */
interface Reply {
  status(status: number): this
  send(body: object): unknown
}

/**
 * Answers what a repository throws in Nest's own routes as the gateway would, `{ code, message }` with the status of the
 * code, instead of a 500: `app.useGlobalFilters(new AshlarExceptionFilter())`.
 */
@Catch(AshlarError)
export class AshlarExceptionFilter implements ExceptionFilter<AshlarError> {
  catch({ code, wireMessage }: AshlarError, host: ArgumentsHost): void {
    const reply = host.switchToHttp().getResponse<Reply>()
    reply.status(HTTP_STATUS[code]).send({ code: CODES[code], message: wireMessage })
  }
}
