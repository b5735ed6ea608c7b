import { create } from '@bufbuild/protobuf'
import { DescriptorProtoSchema, FieldDescriptorProto_Type as Type } from '@bufbuild/protobuf/wkt'
import { expect } from 'chai'
import { UniqueNames } from '../../lib/openapi/schema/unique-names.js'
import { openApi } from '../../lib/server/openapi/open-api.js'
import { SpecimenService } from '../support/gen/specimens_pb.js'
import { altered } from '../support/grpc/altered.js'

describe('the names of an OpenAPI document', () => {
  it('keep the names that come first, and number the others', () => {
    const names = new UniqueNames(['a.Widget', 'a.WidgetInput', 'a.Widget.Input'])
    const wanted = ['a.Widget', 'a.WidgetInput', 'a.Widget.Input', 'a.Widget-input', 'a.Other']
    const given = ['a.Widget', 'a.WidgetInput2', 'a.Widget.Input', 'a.Widget-input3', 'a.Other']
    expect(wanted.map((name) => names.of(name))).to.deep.equal(given)
    expect(names.of('a.Widget-input')).to.equal('a.Widget-input3')
  })

  it('differ in more than punctuation and case', async () => {
    const names = ['SpecimenInput', 'SpecimenMasked', 'Specimen_Patch', 'SPECIMEN']
    const service = altered(SpecimenService, ({ file, addField, method }) => {
      for (const name of names) {
        file.messageType.push(create(DescriptorProtoSchema, { name }))
        const typeName = `.specimens.v1.${name}`
        addField('Specimen', `of_${name.toLowerCase()}`, Type.MESSAGE, { typeName })
      }
      method('WeighSpecimen').name = 'Get_Specimen'
    })
    const { components, paths } = JSON.parse(await openApi([service])) as {
      components: { schemas: Record<string, unknown> }
      paths: Record<string, Record<string, { operationId: string }>>
    }
    const ids = Object.values(paths).flatMap((path) => Object.values(path).map((one) => one.operationId))
    const schemas = Object.keys(components.schemas)
    expect(schemas).to.include.members(names.map((name) => `specimens.v1.${name}`).slice(0, 3))
    for (const all of [schemas, ids]) {
      const plain = all.map((name) => name.replaceAll(/[^a-z0-9]/gi, '').toLowerCase())
      expect(plain.filter((name, index) => plain.indexOf(name) !== index)).to.deep.equal([])
    }
  })
})
