import { expect } from 'chai'
import { bindingOf } from '../../../lib/gateway/routing/bindings.js'
import { httpRulesOf } from '../../../lib/resource/messages/http-paths.js'
import { literalPaths } from '../../../lib/openapi/literal-paths.js'
import { pathsOf } from '../../../lib/openapi/operation/path-text.js'
import { singular } from '../../../lib/openapi/operation/singular.js'
import { servicesOf } from '../../support/openapi/protos.js'

const serviceOf = (...templates: readonly string[]) =>
  servicesOf({
    package: 'paths.v1',
    messages: { Item: { id: 'string' }, Request: { id: 'string', name: 'string', item: '.paths.v1.Item' } },
    service: 'Paths',
    methods: Object.fromEntries(
      templates.map(
        (value, index) =>
          [
            `Get${index}`,
            { input: 'Request', output: 'Item', http: { pattern: { case: 'get', value } } },
          ] as const,
      ),
    ),
  })

const pathsFor = (...templates: readonly string[]): readonly string[] => {
  const bindings = serviceOf(...templates).flatMap(({ methods }) =>
    methods.flatMap((method) => httpRulesOf(method).map((rule, index) => bindingOf(method, rule, index))),
  )
  const paths = pathsOf(bindings)
  return bindings.map((binding) => paths.get(binding)?.text ?? '')
}

describe('a path of OpenAPI', () => {
  for (const [template, path] of [
    ['/v1/items', '/v1/items'],
    ['/v1/items/{id}', '/v1/items/{id}'],
    ['/v1/items/{item.id}:check', '/v1/items/{item.id}:check'],
    ['/v1/{name=shelves/*/books/*}', '/v1/shelves/{shelf}/books/{book}'],
    ['/v1/{name=shelves/*/books/*}:publish', '/v1/shelves/{shelf}/books/{book}:publish'],
    ['/v1/{name=shelves/**}', '/v1/shelves/{shelf}'],
    ['/v1/{name=**}', '/v1/{name}'],
    ['/v1/{name=*/*}', '/v1/{name}/{name_2}'],
    ['/v1/{name=items/*/items/*}', '/v1/items/{item}/items/{item_2}'],
    ['/v1/*/all/**', '/v1/{segment2}/all/{segment4}'],
    ['/v1/a%20b/{id=c%2Fd/*}', '/v1/a%20b/c%2Fd/{c/d}'],
  ] as const)
    it(`of ${template} is ${path}`, () => {
      expect(pathsFor(template)).to.deep.equal([path])
    })

  it('is one for templates that differ in names only, with the shortest', () => {
    expect(
      pathsFor('/v1/items/{item.id}', '/v1/items/{name}', '/v1/items/{id}', '/v1/items/{id}:check'),
    ).to.deep.equal([...['/v1/items/{id}', '/v1/items/{id}', '/v1/items/{id}', '/v1/items/{id}:check']])
  })

  it('is literal where nothing varies', () => {
    expect([...literalPaths(serviceOf('/docs', '/v1/{id}'))]).to.deep.equal(['/docs'])
  })
})

describe('the singular', () => {
  for (const [word, one] of [
    ['shelves', 'shelf'],
    ['books', 'book'],
    ['entries', 'entry'],
    ['boxes', 'box'],
    ['classes', 'class'],
    ['houses', 'house'],
    ['statuses', 'status'],
    ['archives', 'archive'],
    ['status', 'status'],
    ['press', 'press'],
    ['sheep', 'sheep'],
    ['days', 'day'],
  ] as const)
    it(`of ${word} is ${one}`, () => {
      expect(singular(word)).to.equal(one)
    })
})
