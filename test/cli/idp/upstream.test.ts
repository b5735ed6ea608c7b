import { expect } from 'chai'
import { Failure } from '../../../cli/errors/failure.js'
import { httpUpstream } from '../../../cli/idp/upstream.js'

const GOOD = ['http://127.0.0.1:3000', 'https://app.internal/base', 'http://[::1]:8080']

const BAD: readonly (readonly [string, RegExp])[] = [
  ['127.0.0.1:3000', /is not an http or https URL: write it with its scheme/],
  ['localhost:3000', /is not an http or https URL/],
  ['app', /is not an http or https URL/],
  ['', /is not an http or https URL/],
  ['http://', /is not an http or https URL/],
  ['http://127.0.0.1:70000', /is not an http or https URL/],
  ['ftp://127.0.0.1', /is not an http or https URL/],
  ['javascript:alert(1)', /is not an http or https URL/],
]

describe('httpUpstream', () => {
  for (const text of GOOD)
    it(`takes ${text} as it is`, () => {
      expect(httpUpstream(text, '--upstream')).to.equal(text)
    })

  for (const [text, message] of BAD)
    it(`refuses "${text}"`, () => {
      expect(() => httpUpstream(text, '--upstream'))
        .to.throw(Failure, message)
        .with.property('exit', 'input')
    })

  it('refuses a password without repeating it', () => {
    expect(() => httpUpstream('http://me:hunter2@127.0.0.1', '--upstream'))
      .to.throw(Failure, /remove the user name and password/)
      .with.property('message')
      .that.does.not.include('hunter2')
  })
})
