import { CredentialMinter, type MintedCredential } from '../../lib/secrets/credential-minter.js'
import type { HashSpec } from '../../lib/secrets/hash-spec.js'

/** The median duration of the calls of each kind, in nanoseconds. */
export interface VerifyTiming {
  readonly right: number
  readonly wrong: number
  readonly unknown: number
  /**
   * The difference between the medians of two halves of one kind. Smaller differences are not significant.
   */
  readonly noise: number
}

const ROWS = 200
const KINDS = ['right', 'wrong', 'unknown'] as const

/**
 * Measures whether the duration distinguishes a correct secret, a wrong one and an unknown public id. The
 * calls are interleaved and use rows in memory.
 */
export async function measureVerifyTiming(spec: HashSpec, calls = 20_000): Promise<VerifyTiming> {
  const minter = new CredentialMinter({ spec })
  const mint = (): Promise<MintedCredential[]> =>
    Promise.all(Array.from({ length: ROWS }, () => minter.mint()))
  const [known, others] = [await mint(), await mint()]
  const rows = new Map(known.map(({ stored }) => [stored.publicId, stored]))
  // All tokens are built in the same way, because a string with another internal representation takes a
  // different time to read.
  const tokens = {
    right: known.map(({ token }) => withSecretOf(minter, token, token)),
    wrong: known.map(({ token }, index) => withSecretOf(minter, token, others[index]?.token ?? '')),
    unknown: others.map(({ token }) => withSecretOf(minter, token, token)),
  }
  const times = {
    right: new Float64Array(calls),
    wrong: new Float64Array(calls),
    unknown: new Float64Array(calls),
  }
  const warmUp = calls / 10
  for (let call = -warmUp; call < calls; call++) {
    // The order rotates and each kind reads other rows, so that none benefits from caches filled by another.
    for (let turn = 0; turn < KINDS.length; turn++) {
      const kind = KINDS[(call + warmUp + turn) % KINDS.length] ?? 'right'
      const token = tokens[kind][(call + warmUp + turn * 67) % ROWS] ?? ''
      const start = process.hrtime.bigint()
      const { publicId, secret } = minter.parse(token)
      const stored = rows.get(publicId)
      const isRight = await (stored === undefined
        ? minter.verifyUnknown(secret)
        : minter.verify(secret, stored))
      const took = Number(process.hrtime.bigint() - start)
      if (isRight !== (kind === 'right')) throw new TypeError(`a ${kind} token verified as ${isRight}`)
      if (call >= 0) times[kind][call] = took
    }
  }
  const noise = KINDS.map((kind) => {
    const half = calls >> 1
    return Math.abs(median(times[kind].subarray(0, half)) - median(times[kind].subarray(half)))
  })
  return {
    right: median(times.right),
    wrong: median(times.wrong),
    unknown: median(times.unknown),
    noise: Math.max(...noise),
  }
}

const withSecretOf = (minter: CredentialMinter, token: string, other: string): string =>
  token.slice(0, token.lastIndexOf('_') + 1) + minter.parse(other).secret

const median = (values: Float64Array): number => values.slice().sort()[values.length >> 1] ?? 0
