import { create, type MessageInitShape } from '@bufbuild/protobuf'
import { FieldDescriptorProtoSchema as Request } from '@bufbuild/protobuf/wkt'
import { expect } from 'chai'
import { unknownPermissions } from '../../../lib/server/authz/policy-problems.js'
import { resourceTemplate } from '../../../lib/server/authz/resource-template.js'

type Values = MessageInitShape<typeof Request>

const filled = (template: string, values: Values): string =>
  resourceTemplate(template, Request).fill(create(Request, values))

describe('the resource of a rule', () => {
  const ROWS: readonly (readonly [template: string, values: Values, resource: string])[] = [
    ['doc:{name}', { name: '7' }, 'doc:7'],
    ['doc:{name}', { name: 'shelves/1/books/é 2' }, 'doc:shelves/1/books/é 2'],
    ['doc:{name}', { name: 'team:7' }, 'doc:team%3A7'],
    ['doc:{name}', { name: 'team%3A7' }, 'doc:team%253A7'],
    ['doc:{name}:{json_name}', { name: 'team', jsonName: 'plan:2025' }, 'doc:team:plan%3A2025'],
    ['doc:{name}:{json_name}', { name: 'team:plan', jsonName: '2025' }, 'doc:team%3Aplan:2025'],
    ['doc:{name}:{json_name}', { name: '', jsonName: ':' }, 'doc::%3A'],
    ['doc:{name}-v:{number}', { name: 'a-v', number: 3 }, 'doc:a-v-v:3'],
  ]
  for (const [template, values, resource] of ROWS)
    it(`fills ${template} as ${resource}`, () => {
      expect(filled(template, values)).to.equal(resource)
    })

  it('is never the same for two requests that differ', () => {
    const texts = ['', 'a', 'b', ':', 'a:b', '%', '%3A', 'a%3Ab', 'b:', ':a']
    const seen = new Map<string, string>()
    for (const name of texts)
      for (const jsonName of texts) {
        const resource = filled('doc:{name}:{json_name}', { name, jsonName })
        expect(seen.get(resource)).to.equal(undefined)
        seen.set(resource, `${name} ${jsonName}`)
      }
  })

  for (const template of [
    'doc:{name}{json_name}',
    'doc:{name}-{json_name}',
    'doc:{number}:{name}/{json_name}',
  ])
    it(`is rejected if its values are ambiguous: ${template}`, () => {
      expect(() => resourceTemplate(template, Request)).to.throw(
        TypeError,
        /ends and \{json_name\} begins: write a colon between them/,
      )
    })

  it('must have as many parts as the template in a permission', () => {
    const asked = [{ verb: 'read', resource: 'doc:{name}:{json_name}' }]
    const refused = (resource: string) =>
      unknownPermissions({ roles: { reader: [{ verbs: ['read'], resource }] }, bindings: [] }, asked).length
    expect(['doc', 'doc:team:plan%3A2025', 'doc::'].map(refused)).to.deep.equal([0, 0, 0])
    expect(['doc:team:plan:2025', 'doc:team', 'doc:{name}:{json_name}'].map(refused)).to.deep.equal([1, 1, 1])
  })
})
