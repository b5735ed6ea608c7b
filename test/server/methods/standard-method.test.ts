import { create, type DescMethod } from '@bufbuild/protobuf'
import { DescriptorProtoSchema, FieldDescriptorProto_Type as Type } from '@bufbuild/protobuf/wkt'
import { expect } from 'chai'
import { standardMethod } from '../../../lib/server/methods/standard-method.js'
import { WidgetSchema, WidgetService } from '../../../examples/widgets/gen/widgets_pb.js'
import { type Altered, altered } from '../../support/grpc/altered.js'
import { NoteSchema, NoteService, SpecimenSchema, SpecimenService } from '../../support/gen/specimens_pb.js'

describe('standardMethod', () => {
  const recognised = [
    [WidgetService, WidgetSchema],
    [SpecimenService, SpecimenSchema],
    [NoteService, NoteSchema],
  ] as const
  for (const [service, resource] of recognised)
    for (const method of service.methods) {
      if (/^(Retire|Weigh)/.test(method.name)) continue
      it(`recognises ${service.name}.${method.name}`, () => {
        expect(standardMethod(method, resource)).to.have.property('kind')
      })
    }

  for (const [name, kind] of [
    ['DeleteWidget', 'delete'],
    ['BatchDeleteWidgets', 'batchDelete'],
  ] as const)
    it(`recognizes a ${name} that returns a message of its own without fields`, () => {
      const service = altered(WidgetService, ({ file, method }) => {
        file.messageType.push(create(DescriptorProtoSchema, { name: 'Deleted' }))
        method(name).outputType = '.widgets.v1.Deleted'
      })
      const method = service.methods.find((one) => one.name === name) as DescMethod
      expect(standardMethod(method, WidgetSchema)).to.include({ kind })
    })

  const misses: readonly (readonly [string, string, (proto: Altered) => void, string])[] = [
    ['a name of our own', 'RetireWidget', () => {}, "its name is not a standard method's name"],
    [
      'a stream',
      'GetWidget',
      (proto) => void (proto.method('GetWidget').serverStreaming = true),
      'it streams',
    ],
    [
      'the name of another resource',
      'GetWidget',
      (proto) => void (proto.method('GetWidget').name = 'GetWidgetPart'),
      `"WidgetPart" is not Widget, the repository's resource`,
    ],
    [
      'a plural that is none',
      'ListWidgets',
      (proto) => void (proto.method('ListWidgets').name = 'ListWidgetParts'),
      `"WidgetParts" is not the plural of Widget, the repository's resource`,
    ],
    [
      'a stray field',
      'GetWidget',
      (proto) => proto.addField('GetWidgetRequest', 'view'),
      'a repository would ignore view of GetWidgetRequest',
    ],
    [
      'a misspelt standard field',
      'ListWidgets',
      (proto) => {
        proto.removeField('ListWidgetsRequest', 'page_size')
        proto.addField('ListWidgetsRequest', 'pagesize', Type.INT32)
      },
      'a repository would ignore pagesize of ListWidgetsRequest; did you mean page_size?',
    ],
    [
      'a validate_only that is not of type bool',
      'DeleteWidget',
      (proto) => proto.addField('DeleteWidgetRequest', 'validate_only', Type.INT32),
      'validate_only of DeleteWidgetRequest is not of type bool',
    ],
    [
      'a request_id of an item that is not a string',
      'BatchUpdateWidgets',
      (proto) => proto.addField('UpdateWidgetRequest', 'request_id', Type.BYTES),
      'request_id of UpdateWidgetRequest is not of type string',
    ],
    [
      'no key',
      'GetWidget',
      (proto) => proto.removeField('GetWidgetRequest', 'id'),
      'GetWidgetRequest has neither "string id" nor "string name"',
    ],
    [
      'a key that is a number',
      'GetWidget',
      (proto) => {
        proto.removeField('GetWidgetRequest', 'id')
        proto.addField('GetWidgetRequest', 'id', Type.INT64)
      },
      'GetWidgetRequest has neither "string id" nor "string name"',
    ],
    [
      'a delete that returns the resource',
      'DeleteWidget',
      (proto) => void (proto.method('DeleteWidget').outputType = '.widgets.v1.Widget'),
      'it returns widgets.v1.Widget, not google.protobuf.Empty',
    ],
    [
      'a get that returns nothing',
      'GetWidget',
      (proto) => void (proto.method('GetWidget').outputType = '.google.protobuf.Empty'),
      'it returns google.protobuf.Empty, not widgets.v1.Widget',
    ],
    [
      'no page token',
      'ListWidgets',
      (proto) => proto.removeField('ListWidgetsRequest', 'page_token'),
      'ListWidgetsRequest lacks page_size or page_token',
    ],
    [
      'no next page token',
      'ListWidgets',
      (proto) => proto.removeField('ListWidgetsResponse', 'next_page_token'),
      'ListWidgetsResponse lacks next_page_token',
    ],
    [
      'a total that is not an int32',
      'ListWidgets',
      (proto) => proto.addField('ListWidgetsResponse', 'total_size', Type.INT64),
      'total_size of ListWidgetsResponse is not an int32',
    ],
    [
      'no items',
      'ListWidgets',
      (proto) => proto.removeField('ListWidgetsResponse', 'widgets'),
      'ListWidgetsResponse has no repeated Widget',
    ],
    [
      'no resource',
      'CreateWidget',
      (proto) => proto.removeField('CreateWidgetRequest', 'widget'),
      'CreateWidgetRequest must hold one Widget',
    ],
    [
      'a mask on create',
      'CreateWidget',
      (proto) => proto.addField('CreateWidgetRequest', 'update_mask', Type.STRING, { repeated: true }),
      'a repository would ignore update_mask of CreateWidgetRequest',
    ],
    [
      'no mask on update',
      'UpdateWidget',
      (proto) => proto.removeField('UpdateWidgetRequest', 'update_mask'),
      'UpdateWidgetRequest has no update_mask (a FieldMask or repeated string)',
    ],
    [
      'no ids',
      'BatchGetWidgets',
      (proto) => proto.removeField('BatchGetWidgetsRequest', 'ids'),
      'BatchGetWidgetsRequest has neither "repeated string ids" nor "names"',
    ],
    [
      'no requests',
      'BatchUpdateWidgets',
      (proto) => proto.removeField('BatchUpdateWidgetsRequest', 'requests'),
      'BatchUpdateWidgetsRequest has no repeated "requests"',
    ],
    [
      'a parent the resource has not',
      'ListWidgets',
      (proto) => proto.addField('ListWidgetsRequest', 'parent'),
      'a repository would ignore parent of ListWidgetsRequest',
    ],
  ]
  for (const [name, method, change, differs] of misses)
    it(`says of ${name} what differs`, () => {
      const service = altered(WidgetService, change)
      const index = WidgetService.methods.findIndex((one) => one.name === method)
      const changed = service.methods[index]
      expect(changed && standardMethod(changed, WidgetSchema)).to.deep.equal({ differs })
    })
})
