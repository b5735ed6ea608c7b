import { expect } from 'chai'
import { DeclarationError } from '../../../lib/errors.js'
import { routesOf } from '../../../lib/gateway/routing/bindings.js'
import { methodsOfRules, type RuleCase } from '../../drills/service-of-rules.js'
import { allMethods } from '../start-gateway.js'

type Rule = RuleCase['rule']

type More = Pick<Rule & object, 'body' | 'responseBody' | 'additionalBindings'>

const get = (path: string, more: More = {}): Rule => ({
  pattern: { case: 'get', value: path },
  ...more,
})
const post = (path: string, more: More = {}): Rule => ({
  pattern: { case: 'post', value: path },
  ...more,
})

describe('routesOf', () => {
  it('compiles every rule of the examples', () => {
    expect(() => routesOf(allMethods)).not.to.throw()
  })

  it('leaves methods without a rule alone', () => {
    expect(
      routesOf(allMethods.filter(({ name }) => name === 'Collect')).find('POST', '/v1/collect'),
    ).to.equal(undefined)
  })

  for (const [rule, why] of [
    [get('v1/x'), 'must begin with "/"'],
    [get(''), 'must begin with "/"'],
    [get('/v1/{a'), 'rules.v1.RulesService/M0 /v1/{a: character 5: "{" is never closed'],
    [get('/v1/{a=x/*'), 'rules.v1.RulesService/M0 /v1/{a=x/*: character 5: "{" is never closed'],
    [get('/v1/%zz'), 'rules.v1.RulesService/M0 /v1/%zz: character 5: "%" must be followed by two hex'],
    [get('/v1/%ff'), 'rules.v1.RulesService/M0 /v1/%ff: character 5: a percent escape is not UTF-8'],
    [
      get('/v1/x', { additionalBindings: [get('/v1/{') as never] }),
      'rules.v1.RulesService/M0 /v1/{: character 5: "{" is never closed',
    ],
    [
      { pattern: { case: 'custom', value: { kind: 'REPORT', path: '/v1/}' } } },
      'rules.v1.RulesService/M0 /v1/}: character 5: "}" closes a variable that was never opened',
    ],
    [get('/v1/{nope}'), 'jsontypes.v1.AllTypes has no field "nope"'],
    [get('/v1/{optional_string.x}'), 'has no field "optional_string.x"'],
    [get('/v1/{repeated_string}'), '"repeated_string" is repeated or a message'],
    [get('/v1/{map_string_string}'), '"map_string_string" is repeated or a message'],
    [get('/v1/{optional_nested_message}'), '"optional_nested_message" is repeated or a message'],
    [get('/v1/{optional_timestamp}'), '"optional_timestamp" is repeated or a message'],
    [get('/v1/{repeated_nested_message.a}'), 'has no field "repeated_nested_message.a"'],
    [get('/v1/x', { body: '*' }), 'a GET takes no body'],
    [get('/v1/x', { body: 'optional_struct' }), 'a GET takes no body'],
    [post('/v1/x', { body: 'nope' }), 'body: jsontypes.v1.AllTypes has no field "nope"'],
    [post('/v1/x', { body: 'optional_nested_message.a' }), 'body: jsontypes.v1.AllTypes has no field'],
    [post('/v1/x', { responseBody: 'nope' }), 'response_body: jsontypes.v1.AllTypes has no field "nope"'],
    [
      get('/v1/x', {
        additionalBindings: [{ ...get('/v1/y'), additionalBindings: [get('/v1/z')] } as never],
      }),
      'additional bindings do not nest',
    ],
    [
      get('/v1/x', { additionalBindings: [get('/v1/x') as never] }),
      'another rule has the same method and path',
    ],
    [{}, 'has no method and path'],
    [{ pattern: { case: 'custom', value: { kind: '', path: '/v1/x' } } }, 'a custom pattern needs a kind'],
  ] as readonly (readonly [Rule, string])[])
    it(`refuses ${JSON.stringify(rule)}: ${why}`, () => {
      expect(() => routesOf(methodsOfRules({ rule }))).to.throw(DeclarationError, why)
    })

  it('warns of a correct rule that it has no form for, and serves the others', () => {
    const methods = methodsOfRules(
      { rule: post('/v1/x'), clientStreaming: true },
      { rule: get('/v1/{required_string=a/**}/{double=*}') },
      { rule: get('/v1/y', { additionalBindings: [get('/v1/**/y') as never] }) },
    )
    const warnings: string[] = []
    const table = routesOf(methods, (text) => void warnings.push(text))
    expect(warnings).to.deep.equal([
      'rules.v1.RulesService/M0 /v1/x gets no route: a stream of requests is served over gRPC only',
      'rules.v1.RulesService/M1 /v1/{required_string=a/**}/{double=*} gets no route: character 24: "**" is only supported at the end of a path',
      'rules.v1.RulesService/M2 /v1/**/y gets no route: character 5: "**" is only supported at the end of a path',
    ])
    expect(table.find('GET', '/v1/y')).to.have.property('match')
    expect([table.find('POST', '/v1/x'), table.find('GET', '/v1/a/b')]).to.deep.equal([undefined, undefined])
  })

  it('reports every problem at once, with its method and path', () => {
    const methods = methodsOfRules(
      { rule: get('/v1/{a}') },
      { rule: get('/v1/{optional_string}') },
      { rule: get('/v1/{optional_bytes}') },
    )
    expect(() => routesOf(methods))
      .to.throw(DeclarationError)
      .with.property('problems')
      .that.deep.equals([
        'rules.v1.RulesService/M0 /v1/{a}: jsontypes.v1.AllTypes has no field "a"',
        'rules.v1.RulesService/M2 /v1/{optional_bytes}: another rule has the same method and path',
      ])
  })
})
