import { expect } from 'chai'
import { errors, type JWK } from 'jose'
import { Unauthenticated } from '../../../lib/errors.js'
import { oidc } from '../../../lib/server/authn/oidc.js'
import { Metadata } from '../../../lib/call.js'
import { vectors } from '../../support/values/vectors.js'

interface Row {
  readonly id: string
  readonly comment: string
  readonly jwk: JWK
  readonly jws: string
  readonly result: 'valid' | 'invalid'
}

const credentials = { metadata: new Metadata(), peer: '', signal: new AbortController().signal }

/** What valid signatures are refused for all the same. */
const EXCEPTIONS: readonly (readonly [string, (row: Row) => boolean])[] = [
  [
    'a shared secret signs it: such a key would let every service that verifies issue tokens',
    ({ jwk }) => jwk.kty === 'oct',
  ],
  ['ES521 is no registered algorithm', ({ jwk }) => jwk.alg === 'ES521'],
  ['the key says that it is for another algorithm', ({ id }) => id === 'wj346' || id === 'wj350'],
  ['its payload is empty, and so holds no claims', ({ comment }) => comment === 'emptyPayload'],
]

/**
 * These are about `key_ops`, which the keys of the file no longer carry: as they stand, their signatures are
 * good.
 */
const WITHOUT_KEY_OPS = 'rejectWrongKeyOps'

/**
 * Behind the signature the payloads of the vectors, `foo` and the like, are no claims: that is how far a
 * valid one comes.
 */
const isVerified = (cause: unknown) =>
  cause instanceof errors.JWTInvalid || cause instanceof errors.JWTClaimValidationFailed

describe('public JWS vectors', () => {
  const rows = vectors<Row>('jws-wycheproof')
  if (rows === undefined) {
    it('are not at hand', function () {
      this.skip()
    })
    return
  }

  const verdict = async ({ jwk, jws }: Row): Promise<unknown> => {
    const authenticator = oidc({ issuer: 'https://id.example', audience: 'x', jwks: { keys: [jwk] } })
    try {
      return await authenticator.authenticate(jws, credentials)
    } catch (error) {
      expect(error).to.be.instanceOf(Unauthenticated)
      return (error as Unauthenticated).cause
    }
  }

  it(`refuse every invalid one of ${rows.length}`, async () => {
    const taken: string[] = []
    for (const row of rows.filter(
      ({ result, comment }) => result === 'invalid' && comment !== WITHOUT_KEY_OPS,
    )) {
      if (isVerified(await verdict(row))) taken.push(`${row.id} ${row.comment}`)
    }
    expect(taken).to.deep.equal([])
  })

  it('verify every valid one, with the exceptions listed', async () => {
    const refused: string[] = []
    for (const row of rows.filter(({ result }) => result === 'valid')) {
      if (EXCEPTIONS.some(([, applies]) => applies(row))) continue
      const cause = await verdict(row)
      if (!isVerified(cause)) refused.push(`${row.id} ${row.comment}: ${String(cause)}`)
    }
    expect(refused).to.deep.equal([])
  })

  for (const [reason, applies] of EXCEPTIONS)
    it(`are refused where ${reason}`, async () => {
      const excepted = rows.filter((row) => row.result === 'valid' && applies(row))
      expect(excepted).not.to.have.length(0)
      for (const row of excepted) expect(isVerified(await verdict(row)), row.id).to.equal(false)
    })
})
