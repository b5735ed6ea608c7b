import { inspect } from 'node:util'
import { CredentialMinter } from '../../../lib/secrets/credential-minter.js'
import { newDev } from '../../../lib/secrets/dev-encryptor.js'
import type { Encryptor } from '../../../lib/secrets/encryptor.js'
import { AshlarError } from '../../../lib/errors.js'
import { Caller } from '../../../lib/call.js'
import { Deadline } from '../../../lib/server/chain/deadline.js'
import { errorMapper } from '../../../lib/server/interceptors/error-mapper.js'
import { jsonLogger } from '../../../lib/server/observability/logger.js'

/** The prefix of all planted values of a client. */
export const CANARY = 'canarymark'

/**
 * Provides an encryptor and a credential minter that remember their results, so that tests can check that no
 * ciphertext, hash or token appears in any output.
 */
export class SecretTracker {
  readonly #planted = new Set<string>([CANARY])

  readonly encryptor: Encryptor
  readonly minter: CredentialMinter

  constructor() {
    const real = newDev(Buffer.alloc(32, 9))
    const planted = this.#planted
    const noted = async (text: Promise<string>) => {
      planted.add(await text)
      return text
    }
    this.encryptor = {
      encrypt: (text, options) => noted(real.encrypt(text, options)),
      hash: (text, options) => noted(real.hash(text, options)),
      decrypt: (text, options) => real.decrypt(text, options),
    }
    this.minter = new (class extends CredentialMinter {
      override async mint(...options: Parameters<CredentialMinter['mint']>) {
        const minted = await super.mint(...options)
        const { salt, hash } = minted.stored
        for (const text of [minted.token.slice(minted.token.lastIndexOf('_') + 1), salt, hash])
          planted.add(text)
        return minted
      }
    })()
  }

  /**
   * Returns the planted values in a text, in upper or lower case or in the byte encoding that drivers print.
   */
  foundIn(text: string): string[] {
    const lower = text.toLowerCase()
    return [...this.#planted].flatMap((value) =>
      [value.toLowerCase(), Buffer.from(value).toString('hex')]
        .map((form) => lower.indexOf(form))
        .filter((at) => at >= 0)
        .map((at) => `${value}: ${text.slice(Math.max(0, at - 200), at + 80)}`),
    )
  }
}

/**
 * Returns everything that a program could print about an error: the error, its causes, and the responses and
 * log records of a server.
 */
export const everythingSaidOf = async (error: unknown): Promise<string> =>
  [...printed(error), await saidByServerOf(error)].join('\n')

const printed = (error: unknown): string[] => [
  inspect(error, { depth: Infinity, showHidden: true, maxStringLength: Infinity }),
  JSON.stringify(error),
  JSON.stringify({ ...(error as object) }),
  String((error as Error).stack),
]

/** Returns the response and the log records of a server for an error that a handler threw. */
export async function saidByServerOf(error: unknown): Promise<string> {
  const said: string[] = []
  const logger = jsonLogger('debug', (lines) => said.push(lines))
  let mapped: unknown
  const call = {
    path: '/canary',
    requestId: 'r',
    time: new Deadline(undefined, new Caller()),
  }
  try {
    const method = { isStreaming: false }
    const registered = { method, handler: {} } as never
    await errorMapper(logger, 1_000)(() => Promise.reject(error as Error), registered)(call as never)
  } catch (reason) {
    mapped = reason
  }
  said.push(...printed(mapped))
  if (mapped instanceof AshlarError) said.push(mapped.wireMessage, JSON.stringify(mapped.details))
  for (const err of [error, mapped])
    logger.error({ err, cause: (err as Error).cause, fields: { deep: [err] } }, 'failed')
  return said.join('\n')
}

/** Returns everything that the process writes to stdout and stderr while `work` runs, including warnings. */
export async function outputOf(work: () => Promise<void>): Promise<string> {
  const written: string[] = []
  const warned = (warning: Error) => written.push(inspect(warning, { depth: Infinity, showHidden: true }))
  const { stdout, stderr } = process
  const originals = [stdout, stderr].map((stream) => ({ stream, write: stream.write }))
  for (const { stream } of originals)
    stream.write = ((chunk: unknown) => written.push(String(chunk)) > 0) as typeof stream.write
  process.on('warning', warned)
  try {
    await work()
    await new Promise(setImmediate)
  } finally {
    process.off('warning', warned)
    for (const { stream, write } of originals) stream.write = write
  }
  return written.join('')
}
