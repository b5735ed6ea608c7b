import { createHash, randomUUID } from 'node:crypto'
import { Unavailable } from '../../errors.js'
import {
  DEFAULT_TTL_MS,
  type Claim,
  type ClaimOutcome,
  type IdempotencyKey,
  type IdempotencyStore,
  keyText,
  type StoredReply,
} from './idempotency-store.js'

/** The part of a connected `redis` client that the store uses. */
export interface RedisClient {
  /** Runs a Lua script. */
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>
  /** True if the client is connected. A disconnected client queues commands. */
  readonly isReady?: boolean
}

/** Options of a `RedisIdempotencyStore`. */
export interface RedisIdempotencyOptions {
  /** The time for which a response can be replayed, in milliseconds. Default: 10 minutes. */
  readonly ttlMs?: number
  /** The prefix of Redis keys. Default: `ashlar:idempotency:`. */
  readonly prefix?: string
}

/**
 * Stores responses in Redis, for all processes that use the same server. A response is stored after the
 * effect, not in its transaction. If the process dies in between, a duplicate runs again. If that matters,
 * use `SqlIdempotencyStore`.
 */
export class RedisIdempotencyStore implements IdempotencyStore {
  readonly #client: RedisClient
  readonly #ttlMs: number
  readonly #prefix: string
  /**
   * True if a command had no response in time. Redis responds in order, so other commands would also wait.
   */
  #isSilent = false

  constructor(
    client: RedisClient,
    { ttlMs = DEFAULT_TTL_MS, prefix = 'ashlar:idempotency:' }: RedisIdempotencyOptions = {},
  ) {
    this.#client = client
    this.#ttlMs = ttlMs
    this.#prefix = prefix
  }

  async claim(key: IdempotencyKey, fingerprint: string, leaseMs: number): Promise<ClaimOutcome> {
    const name = this.#prefix + createHash('sha256').update(keyText(key)).digest('hex')
    const token = randomUUID()
    const result = (await this.#run(CLAIM, name, token, fingerprint, String(leaseMs))) as string[]
    const [state, known = '', reply = ''] = result
    if (state === 'claimed') return { state: 'claimed', claim: this.#claimOf(name, token, fingerprint) }
    if (state === 'running') return { state: 'running', fingerprint: known }
    return { state: 'done', fingerprint: known, reply: parsed(reply) }
  }

  #claimOf(name: string, token: string, fingerprint: string): Claim {
    return {
      renew: async (leaseMs) => {
        await this.#run(RENEW, name, token, String(leaseMs))
      },
      complete: async (reply) =>
        (await this.#run(COMPLETE, name, token, text(reply), String(this.#ttlMs), fingerprint)) === 1,
      release: async () => {
        await this.#run(RELEASE, name, token)
      },
    }
  }

  /**
   * @throws Unavailable at once if Redis cannot be reached or has not answered an earlier command in time.
   */
  async #run(script: string, name: string, ...values: string[]): Promise<unknown> {
    if (this.#isSilent) throw unreachable('Redis has not responded to an earlier command')
    return this.#send(script, { keys: [name], arguments: values })
  }

  async #send(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown> {
    if (this.#client.isReady === false) throw unreachable('the Redis client is not connected')
    const running = this.#client.eval(script, options)
    const responded = () => void (this.#isSilent = false)
    running.then(responded, responded)
    const began = performance.now()
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setInterval(() => {
        // The client queues commands until it is connected.
        if (this.#client.isReady === false) reject(unreachable('the Redis client is not connected'))
        if (performance.now() - began < LATE_MS) return
        this.#isSilent = true
        reject(unreachable(`Redis did not respond within ${LATE_MS} ms`))
      }, LOOK_MS).unref()
    })
    try {
      return await Promise.race([running, late])
    } finally {
      clearInterval(timer)
    }
  }

  /** @throws Unavailable if Redis cannot be reached or does not answer. */
  async checkWrites(): Promise<void> {
    if (this.#isSilent) await this.#send('return 1', { keys: [], arguments: [] })
    if (this.#client.isReady === false) throw unreachable('the Redis client is not connected')
  }
}

const unreachable = (why: string): Unavailable =>
  new Unavailable('the response store cannot be reached: retry later', new Error(why))

const LATE_MS = 2000
const LOOK_MS = 100

// The lease is the key's time to live, so a lapsed key no longer exists.
const CLAIM = `
local known = redis.call('HMGET', KEYS[1], 'token', 'fingerprint', 'reply')
if known[2] then
  if known[3] then return { 'done', known[2], known[3] } end
  return { 'running', known[2] }
end
redis.call('HSET', KEYS[1], 'token', ARGV[1], 'fingerprint', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return { 'claimed' }`

const RENEW = `
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`

const COMPLETE = `
if redis.call('EXISTS', KEYS[1]) == 1 and redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return 0 end
redis.call('HDEL', KEYS[1], 'token')
redis.call('HSET', KEYS[1], 'reply', ARGV[2], 'fingerprint', ARGV[4])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1`

const RELEASE = `
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`

const text = ({ message, ...rest }: StoredReply): string =>
  JSON.stringify({ ...rest, message: Buffer.from(message).toString('base64') })

const parsed = (reply: string): StoredReply => {
  const { message, ...rest } = JSON.parse(reply) as Omit<StoredReply, 'message'> & { message: string }
  return { ...rest, message: Buffer.from(message, 'base64') }
}
