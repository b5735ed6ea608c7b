import { expect } from 'chai'
import { InvalidArgument } from '../../../lib/errors.js'
import { parsePathTemplate, variableText } from '../../../lib/gateway/routing/path-template.js'
import { RouteTable } from '../../../lib/gateway/routing/route-table.js'

const tableOf = (...rules: readonly string[]): RouteTable<string> => {
  const table = new RouteTable<string>()
  for (const rule of rules) {
    const [httpMethod = '', path = ''] = rule.split(' ')
    table.add({ httpMethod, template: parsePathTemplate(path), target: rule })
  }
  return table
}

/** What a request finds: the rule, the methods it may use instead, or nothing. */
function find(table: RouteTable<string>, request: string): string {
  const [httpMethod = '', path = ''] = request.split(' ')
  const found = table.find(httpMethod, path)
  if (found === undefined) return 'nothing'
  return 'match' in found ? found.match.target : `allow ${[...found.allow].sort().join(' ')}`
}

describe('RouteTable', () => {
  describe('precedence', () => {
    const table = tableOf(
      'GET /v1/widgets/special',
      'GET /v1/widgets/{id}',
      'GET /v1/widgets/{id}/parts',
      'GET /v1/{path=**}',
      'PATCH /v1/widgets/{id}',
      'POST /v1/widgets/{id}:retire',
      'POST /v1/widgets:batchGet',
      'POST /v1/widgets',
      'GET /v1/*/special/deep',
      'GET /v1/widgets/{id}/parts/{part}:peek',
      'POST /v1/{path=files/**}:seal',
      '* /v1/anything',
      'REPORT /v1/widgets',
    )
    const LITERAL = 'literal before "*" before "**"'
    for (const [request, rule, why] of [
      ['GET /v1/widgets/special', 'GET /v1/widgets/special', LITERAL],
      ['GET /v1/widgets/other', 'GET /v1/widgets/{id}', LITERAL],
      ['GET /v1/widgets/a/b', 'GET /v1/{path=**}', LITERAL],
      ['GET /v1/widgets/a/parts', 'GET /v1/widgets/{id}/parts', LITERAL],
      [
        'GET /v1/widgets/special/parts',
        'GET /v1/widgets/{id}/parts',
        'a literal that leads nowhere gives way',
      ],
      ['GET /v1/widgets/special/deep', 'GET /v1/*/special/deep', 'a literal that leads nowhere gives way'],
      ['PATCH /v1/widgets/special', 'PATCH /v1/widgets/{id}', 'a literal without the method gives way'],
      ['GET /v1', 'GET /v1/{path=**}', 'google.api.http: "**" matches zero segments'],
      ['GET /v1/x/y/z', 'GET /v1/{path=**}', 'google.api.http: "**" matches many segments'],
      ['GET /v1/x//z', 'GET /v1/{path=**}', '"**" keeps empty segments'],
      ['POST /v1/widgets/42:retire', 'POST /v1/widgets/{id}:retire', 'AIP-136: verbs first'],
      ['POST /v1/widgets:batchGet', 'POST /v1/widgets:batchGet', 'AIP-136: verbs first'],
      ['GET /v1/widgets/42:retire', 'allow POST', 'AIP-136: verbs first; RFC 9110 15.5.6'],
      ['GET /v1/widgets/a:b', 'GET /v1/widgets/{id}', 'a colon that is no verb belongs to the value'],
      ['GET /v1/widgets/a%3Aretire', 'GET /v1/widgets/{id}', 'RFC 3986 2.2: an escaped colon is no verb'],
      ['GET /v1/widgets/x:y/parts', 'GET /v1/widgets/{id}/parts', 'a verb is at the end of the path only'],
      ['GET /v1/widgets/1/parts/2:peek', 'GET /v1/widgets/{id}/parts/{part}:peek', 'AIP-136'],
      [
        'GET /v1/widgets/1/parts/a:b:peek',
        'GET /v1/widgets/{id}/parts/{part}:peek',
        'the verb is behind the last colon',
      ],
      ['PATCH /v1/widgets/42:', 'PATCH /v1/widgets/{id}', 'a colon without a verb belongs to the value'],
      ['PATCH /v1/widgets/42::', 'PATCH /v1/widgets/{id}', 'a colon without a verb belongs to the value'],
      ['POST /v1/widgets:', 'allow GET', 'a colon without a verb belongs to the value'],
      ['POST /v1/widgets/42::retire', 'POST /v1/widgets/{id}:retire', 'the verb is behind the last colon'],
      ['POST /v1/widgets/42:r%65tire', 'POST /v1/widgets/{id}:retire', 'RFC 3986 6.2.2.2'],
      ['POST /v1/widgets/42:%zz', 'allow GET PATCH', 'RFC 3986 2.1: a broken escape is no verb'],
      [
        'POST /v1/files/a/b:seal',
        'POST /v1/{path=files/**}:seal',
        'google.api.http: "**" last except the verb',
      ],
      ['POST /v1/files:seal', 'POST /v1/{path=files/**}:seal', 'google.api.http: "**" matches zero segments'],
      ['POST /v1/widgets', 'POST /v1/widgets', 'google.api.http: the method is part of the rule'],
      ['REPORT /v1/widgets', 'REPORT /v1/widgets', 'google.api.http: custom kind'],
      ['DELETE /v1/anything', '* /v1/anything', 'google.api.http: custom kind "*"'],
      ['GET /v1/anything', '* /v1/anything', 'google.api.http: custom kind "*"'],
      ['DELETE /v1/widgets', 'allow GET POST REPORT', 'RFC 9110 15.5.6: Allow'],
      ['DELETE /v1/widgets/1', 'allow GET PATCH', 'RFC 9110 15.5.6: Allow'],
      ['GET /v2/widgets', 'nothing', 'RFC 9110 15.5.5'],
      ['GET /', 'nothing', 'RFC 9110 15.5.5'],
      ['GET /V1/widgets/1', 'nothing', 'RFC 3986 6.2.2.1: paths are case-sensitive'],
    ] as const)
      it(`${request} finds ${rule} (${why})`, () => {
        expect(find(table, request)).to.equal(rule)
      })
  })

  describe('segments', () => {
    const table = tableOf('GET /v1/widgets', 'GET /v1/widgets/{id}', 'GET /v1/a%20b/{id}')
    for (const [request, rule, why] of [
      ['GET /v1/widgets/', 'nothing', 'google.api.http: "*" matches one segment, not none'],
      ['GET /v1//widgets', 'nothing', 'RFC 3986 3.3: an empty segment is a segment'],
      ['GET //v1/widgets', 'nothing', 'RFC 3986 3.3: an empty segment is a segment'],
      ['GET /v1/widgets/a/', 'nothing', 'RFC 3986 3.3: an empty segment is a segment'],
      [
        'GET /v1/%77idgets',
        'GET /v1/widgets',
        'RFC 3986 6.2.2.2: escaped unreserved characters are the same',
      ],
      ['GET /v1/widgets%2Fx', 'nothing', 'RFC 3986 2.2: an escaped slash separates nothing'],
      ['GET /v1/widgets/a%2Fb', 'GET /v1/widgets/{id}', 'RFC 3986 2.2: an escaped slash separates nothing'],
      ['GET /v1/../v1/widgets', 'nothing', 'RFC 3986 5.2.4: dot segments are for the client to remove'],
      [
        'GET /v1/widgets/..',
        'GET /v1/widgets/{id}',
        'RFC 3986 5.2.4: dot segments are for the client to remove',
      ],
      ['GET /v1/a%20b/1', 'GET /v1/a%20b/{id}', 'RFC 3986 6.2.2.2: escapes of a literal are its characters'],
      ['GET /v1/%zz/1', 'nothing', 'RFC 3986 2.1: a broken escape is no literal'],
    ] as const)
      it(`${request} finds ${rule} (${why})`, () => {
        expect(find(table, request)).to.equal(rule)
      })
  })

  it('refuses a second rule of the same method and shape', () => {
    const table = tableOf('GET /v1/{a}', 'GET /v1/{a}/x', 'GET /v1/{a=y/**}')
    const add = (path: string, httpMethod = 'GET'): boolean =>
      table.add({ httpMethod, template: parsePathTemplate(path), target: path })
    expect([add('/v1/{b}'), add('/v1/*/x'), add('/v1/y/**')]).to.deep.equal([false, false, false])
    expect([add('/v1/{b}', 'PUT'), add('/v1/{b}:go'), add('/v1/b')]).to.deep.equal([true, true, true])
  })

  it('finds a route in time that does not grow with the choices on the way', () => {
    const table = tableOf(
      ...Array.from(
        { length: 12 },
        (_, index) => `GET ${'/a'.repeat(index + 1)}/*${'/a'.repeat(12 - index)}/z`,
      ),
    )
    expect(find(table, `GET ${'/a'.repeat(2000)}`)).to.equal('nothing')
  })
})

describe('variableText', () => {
  const SINGLE = 'google.api.http: a single segment is decoded whole'
  const MULTI = 'google.api.http: of several segments %2F stays'
  for (const [template, path, value, rule] of [
    ['/v1/{x}', '/v1/abc', 'abc', SINGLE],
    ['/v1/{x}', '/v1/a%20b', 'a b', SINGLE],
    ['/v1/{x}', '/v1/a%2Fb', 'a/b', SINGLE],
    ['/v1/{x}', '/v1/a%2fb', 'a/b', SINGLE],
    ['/v1/{x}', '/v1/a:', 'a:', 'a colon without a verb belongs to the value'],
    ['/v1/{x}', '/v1/a+b', 'a+b', 'RFC 3986: a plus in a path is a plus'],
    ['/v1/{x}', '/v1/%E8%B0%B7', '谷', 'RFC 3986 2.5: escapes are UTF-8'],
    ['/v1/{x}', '/v1/%25', '%', SINGLE],
    ['/v1/{x}', '/v1/%2541', '%41', 'escapes are decoded once'],
    ['/v1/{x}', '/v1/..', '..', SINGLE],
    ['/v1/{x}', '/v1/a%00b', 'a\0b', 'NUL is left to the model'],
    ['/v1/{x}', '/v1/a;b=c', 'a;b=c', 'RFC 3986 3.3: parameters of a segment are part of it'],
    ['/v1/{x=*}', '/v1/a%2Fb', 'a/b', SINGLE],
    ['/v1/{x=a/*}', '/v1/a/b%20c', 'a/b c', MULTI],
    ['/v1/{x=a/*}', '/v1/a/b%2Fc', 'a/b%2Fc', MULTI],
    ['/v1/{x=a/*}', '/v1/a/b%2fc', 'a/b%2fc', MULTI],
    ['/v1/{x=a/**}', '/v1/a', 'a', 'google.api.http: "**" matches zero segments'],
    ['/v1/{x=a/**}', '/v1/a/', 'a/', '"**" keeps empty segments'],
    ['/v1/{x=a/**}', '/v1/a/b//c', 'a/b//c', '"**" keeps empty segments'],
    ['/v1/{x=**}', '/v1/b%2Fc/d%20e', 'b%2Fc/d e', MULTI],
    ['/v1/{x=**}', '/v1', '', 'google.api.http: "**" matches zero segments'],
    ['/v1/{x=a/*}', '/v1/a/%252F', 'a/%2F', 'escapes are decoded once'],
  ] as const)
    it(`of ${template} on ${path} is ${JSON.stringify(value)} (${rule})`, () => {
      const [variable] = parsePathTemplate(template).variables
      if (variable === undefined) throw new TypeError('no variable')
      expect(variableText(variable, path.slice(1).split('/'))).to.equal(value)
    })

  for (const [segment, rule] of [
    ['%', 'RFC 3986 2.1: an escape has two digits'],
    ['%4', 'RFC 3986 2.1: an escape has two digits'],
    ['%zz', 'RFC 3986 2.1: an escape is hexadecimal'],
    ['%ff', 'RFC 3629: not UTF-8'],
    ['%c0%af', 'RFC 3629: an overlong form'],
    ['%ed%a0%80', 'RFC 3629: a surrogate'],
    ['%f4%90%80%80', 'RFC 3629: above U+10FFFF'],
  ] as const)
    for (const template of ['/v1/{x}', '/v1/{x=**}'])
      it(`refuses ${segment} in ${template} (${rule})`, () => {
        const [variable] = parsePathTemplate(template).variables
        if (variable === undefined) throw new TypeError('no variable')
        expect(() => variableText(variable, ['v1', segment])).to.throw(InvalidArgument)
      })
})
