import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'

export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: number,
    message: string,
  ) {
    super(message)
  }
}

export const invalid = (field: string, text: string) => new Problem(400, 3, `${field}: ${text}`)
export const notFound = () => new Problem(404, 5, 'not found')
export const taken = () => new Problem(409, 6, 'already exists')
export const denied = (text = 'permission denied') => new Problem(403, 7, text)
export const refused = (text: string) => new Problem(400, 9, text)
export const stale = () => new Problem(412, 9, 'precondition failed')

const UNIQUE_VIOLATION = '23505'
const RETRIABLE = ['40001', '40P01']

export function sendProblem(error: FastifyError, _request: FastifyRequest, reply: FastifyReply): void {
  const problem = problemOf(error)
  void reply.code(problem.status).send({ code: problem.code, message: problem.message, details: [] })
}

function problemOf(error: FastifyError): Problem {
  if (error instanceof Problem) return error
  if (error.validation !== undefined || error.statusCode === 400) return new Problem(400, 3, error.message)
  if (error.code === UNIQUE_VIOLATION) return taken()
  if (RETRIABLE.includes(error.code)) return new Problem(409, 10, 'aborted: call again')
  console.error(error)
  return new Problem(500, 13, 'internal error')
}
