import { expect } from 'chai'
import { Failure } from '../../../../cli/errors/failure.js'
import { canonicalHost } from '../../../../cli/idp/routes/host.js'

const GOOD: readonly (readonly [string, string])[] = [
  ['idp.dev.test', 'idp.dev.test'],
  ['IDP.Dev.Test', 'idp.dev.test'],
  ['idp.dev.test.', 'idp.dev.test'],
  ['my_app.dev.test', 'my_app.dev.test'],
  ['bücher.dev.test', 'xn--bcher-kva.dev.test'],
  ['10.0.0.5', '10.0.0.5'],
  ['::1', '[::1]'],
  ['[2001:DB8::1]', '[2001:db8::1]'],
]

const BAD: readonly (readonly [string, RegExp])[] = [
  ['idp', /has no dot: write the full name, such as idp\.dev\.test/],
  ['localhost', /has no dot/],
  ['', /is not a host/],
  ['https://idp.dev.test', /is not a host: write a bare name/],
  ['idp.dev.test:8443', /is not a host/],
  ['idp.dev.test/path', /is not a host/],
  ['idp.dev.test?q', /is not a host/],
  ['idp.dev.test#f', /is not a host/],
  ['user@idp.dev.test', /is not a host/],
  ['idp dev.test', /is not a host/],
  ['*.dev.test', /is not a host name/],
  ['-a.dev.test', /is not a host name/],
  ['a..dev.test', /is not a host name/],
  ['.dev.test', /is not a host name/],
  ['1.2.3.4.5', /is not a host/],
  [`${'a'.repeat(64)}.dev.test`, /is not a host name/],
  [`${'a.'.repeat(130)}test`, /is not a host name/],
  ["a'b.dev.test", /is not a host name/],
]

describe('canonicalHost', () => {
  for (const [text, host] of GOOD)
    it(`reads "${text}" as ${host}`, () => {
      expect(canonicalHost(text, '--host')).to.equal(host)
    })

  for (const [text, message] of BAD)
    it(`refuses "${text.slice(0, 30)}" and names where it stands`, () => {
      expect(() => canonicalHost(text, '--host'))
        .to.throw(Failure, message)
        .with.property('exit', 'input')
      expect(() => canonicalHost(text, '--host')).to.throw(/^--host: /)
    })
})
