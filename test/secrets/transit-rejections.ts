import { expect } from 'chai'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { TransitError } from '../../lib/errors.js'

export const INDEX_KEY = Buffer.alloc(32, 7)
export const PLAINTEXT = 'whsec "quoted" <secret> é'

/** The error a call to a transit server ends with, after a search for what must not be in it. */
export async function rejects(attempt: Promise<unknown>): Promise<TransitError> {
  const error = await attempt.then(
    () => expect.fail('it succeeded'),
    (reason: unknown) => reason,
  )
  expect(error).to.be.instanceOf(TransitError)
  const everything = inspect(error, { depth: 10, showHidden: true }) + JSON.stringify(error)
  const spelled = [
    PLAINTEXT,
    JSON.stringify(PLAINTEXT).slice(1, -1),
    Buffer.from(PLAINTEXT).toString('base64'),
  ]
  for (const secret of ['hvs.', ...spelled]) expect(everything).not.to.contain(secret)
  expect((error as TransitError).wireMessage).not.to.match(/[0-9]|transit|vault/i)
  return error as TransitError
}

/** A server that no request may reach; it remembers the headers of those that do. */
export class Thief {
  readonly seen: IncomingHttpHeaders[] = []
  readonly #server = createServer((request, response) => {
    this.seen.push(request.headers)
    response.end('{"data":{"ciphertext":"vault:v1:stolen","plaintext":""}}')
  })

  static async start(): Promise<Thief> {
    const thief = new Thief()
    await new Promise<void>((resolve) => thief.#server.listen(0, '127.0.0.1', resolve))
    return thief
  }

  get addr(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
