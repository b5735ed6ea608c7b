import { expect } from 'chai'
import { BucketNames } from '../../../lib/server/rate-limit/bucket-names.js'
import { networkOf } from '../../../lib/text/network-of.js'

describe('the buckets of a rate limiter', () => {
  const MINUTE_MS = 60_000
  const many = (names: BucketNames, count: number, name: (n: number) => string): Set<string> =>
    new Set(Array.from({ length: count }, (_, n) => names.of(name(n))))

  const kinds = [
    ['peer', 10_000],
    ['tenant', 100_000],
  ] as const
  for (const [kind, bound] of kinds)
    it(`are at most ${bound} of one ${kind} each; further ones share 1024`, () => {
      const names = new BucketNames(kind)
      expect(many(names, bound, String).size).to.equal(bound)
      const shared = many(names, 50_000, (n) => `more-${n}`)
      expect(shared.size).to.be.within(1000, 1024)
      expect(
        [...shared].every((name) => /^\w+s:\d{1,4}$/.test(name) && name.startsWith(`${kind}s:`)),
      ).to.equal(true)
      expect(names.of('more-7')).to.equal(names.of('more-7'))
      expect(names.of('7')).to.equal(`${kind}:7`)
    })

  it('stay with whoever uses them, and are free again when nobody did for a while', () => {
    let now = 0
    const names = new BucketNames('peer', () => now)
    many(names, 10_000, String)
    now = 10 * MINUTE_MS
    expect(names.of('0')).to.equal('peer:0')
    expect(names.of('late')).to.match(/^peers:/)
    now = 20 * MINUTE_MS
    expect(names.of('0')).to.equal('peer:0')
    expect(names.of('late')).to.equal('peer:late')
  })

  it('have short names', () => {
    const names = new BucketNames('tenant')
    expect(names.of('x'.repeat(256))).to.equal(`tenant:${'x'.repeat(256)}`)
    expect(names.of('x'.repeat(100_000))).to.match(/^tenant:sha256:[0-9a-f]{64}$/)
    expect(names.of('x'.repeat(100_000))).not.to.equal(names.of('x'.repeat(100_001)))
  })

  const peers: readonly (readonly [peer: string, network: string])[] = [
    ['127.0.0.1:50000', '127.0.0.1'],
    ['127.0.0.1', '127.0.0.1'],
    ['::ffff:10.1.2.3:50000', '10.1.2.3'],
    ['2001:db8:1:2:3:4:5:6:50000', '2001:db8:1:2::/64'],
    ['[2001:db8:1:2:3:4:5:6]:50000', '2001:db8:1:2::/64'],
    ['2001:db8::6:50000', '2001:db8:0:0::/64'],
    ['2001:db8:1:2:ffff::1:50000', '2001:db8:1:2::/64'],
    ['::1:50000', '0:0:0:0::/64'],
    ['fe80::1%eth0:50000', 'fe80:0:0:0::/64'],
    ['unknown', 'unknown'],
    [':', ':'],
  ]
  for (const [peer, network] of peers)
    it(`take ${peer} for ${network}`, () => {
      expect(networkOf(peer)).to.equal(network)
    })
})
