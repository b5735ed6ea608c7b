import { createHash, randomUUID } from 'node:crypto'
import {
  type Claim,
  type ClaimOutcome,
  type DeduplicationKey,
  type DeduplicationStore,
  keyText,
  type StoredReply,
} from './deduplication-store.js'

/** What is used of a connected client of the `redis` package. */
export interface RedisClient {
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>
}

export interface RedisDeduplicationOptions {
  /** How long an answer is replayed, in milliseconds. Default 10 minutes. */
  readonly ttlMs?: number
  /** What the names of keys begin with. Default `ashlar:idempotency:`. */
  readonly prefix?: string
}

const TEN_MINUTES_MS = 10 * 60_000

/**
 * Keeps replies in Redis, for all processes on one server. The reply is kept after the effect, not with it: a process that dies
 * in between leaves an effect whose duplicate runs again. Where that matters, use `SqlDeduplicationStore`.
 */
export class RedisDeduplicationStore implements DeduplicationStore {
  readonly #client: RedisClient
  readonly #ttlMs: number
  readonly #prefix: string

  constructor(
    client: RedisClient,
    { ttlMs = TEN_MINUTES_MS, prefix = 'ashlar:idempotency:' }: RedisDeduplicationOptions = {},
  ) {
    this.#client = client
    this.#ttlMs = ttlMs
    this.#prefix = prefix
  }

  async claim(key: DeduplicationKey, fingerprint: string, leaseMs: number): Promise<ClaimOutcome> {
    const name = this.#prefix + createHash('sha256').update(keyText(key)).digest('hex')
    const token = randomUUID()
    const answer = (await this.#run(CLAIM, name, token, fingerprint, String(leaseMs))) as string[]
    const [state, known = '', reply = ''] = answer
    if (state === 'claimed') return { state: 'claimed', claim: this.#claimOf(name, token, fingerprint) }
    if (state === 'running') return { state: 'running', fingerprint: known }
    return { state: 'answered', fingerprint: known, reply: parsed(reply) }
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

  #run(script: string, name: string, ...values: string[]): Promise<unknown> {
    return this.#client.eval(script, { keys: [name], arguments: values })
  }
}

// A lease is the life of the key: what lapses is gone.
const CLAIM = `
local known = redis.call('HMGET', KEYS[1], 'token', 'fingerprint', 'reply')
if known[2] then
  if known[3] then return { 'answered', known[2], known[3] } end
  return { 'running', known[2] }
end
redis.call('HSET', KEYS[1], 'token', ARGV[1], 'fingerprint', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return { 'claimed' }`

const RENEW = `
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`

// A claim that has lapsed, and that nobody has taken since, is still good for its answer.
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
