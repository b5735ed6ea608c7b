import { expect } from 'chai'
import { timeoutMs, timeoutText } from '../../../lib/gateway/http/grpc-timeout.js'

describe('a grpc-timeout', () => {
  for (const [ms, text] of [
    [-5, '1m'],
    [0.4, '1m'],
    [99.9, '100m'],
    [99_999_999, '99999999m'],
    [100_000_000, '100000S'],
    [2 ** 31, '2147484S'],
    [99_999_999_001, '1666667M'],
    [99_999_999 * 60_000 + 1, '1666667H'],
    [1e18, '99999999H'],
  ] as const)
    it(`of ${ms} ms is ${text}, which is read as no less`, () => {
      expect(timeoutText(ms)).to.equal(text)
      expect(timeoutMs(text)).to.be.at.least(Math.min(ms, 99_999_999 * 3_600_000))
    })
})
