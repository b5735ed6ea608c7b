import { FieldDescriptorProto_Type as Type } from '@bufbuild/protobuf/wkt'
import { file_google_longrunning_operations } from 'ashlar-annotations/google/longrunning/operations_pb.js'
import { expect } from 'chai'
import { WidgetSchema, WidgetService } from '../../../examples/widgets/gen/widgets_pb.js'
import { standardMethod } from '../../../lib/server/methods/standard-method.js'
import { altered } from '../../support/grpc/altered.js'
import { textOf } from '../../support/sources/documents.js'

const PAGE = 'docs/reference/protos.md'

describe(`the standard methods of ${PAGE}`, () => {
  const rows = [...textOf(PAGE).matchAll(/^\| `(\w+)` +\|([^|]*)\|([^|]*)\|([^|]*)\|$/gm)].map(
    ([, name = '', , extras = '']) => ({
      name,
      extras: [...extras.matchAll(/`(\w+)`/g)].map(([, field = '']) => field),
    }),
  )
  const named = new Set(rows.flatMap(({ extras }) => extras))

  const isStandard = (index: number, field: string): boolean => {
    const { input } = WidgetService.methods[index]!
    const type = ['force', 'validate_only', 'show_deleted'].includes(field) ? Type.BOOL : Type.STRING
    const service = altered(WidgetService, (proto) => {
      proto.removeField(input.name, field)
      proto.addField(input.name, field, type)
    })
    return 'kind' in standardMethod(service.methods[index]!, WidgetSchema)
  }

  it('are all', () => {
    expect(rows.map(({ name }) => name)).to.have.members(
      WidgetService.methods.map(({ name }) => name).filter((name) => !name.startsWith('Retire')),
    )
    expect(named.size).to.be.at.least(9)
  })

  for (const { name, extras } of rows)
    it(`${name} may have the fields that the page says, and no others`, () => {
      const index = WidgetService.methods.findIndex((method) => method.name === name)
      expect([...named].filter((field) => isStandard(index, field))).to.have.members(extras)
    })

  it('may return an operation where resources are deleted or undeleted', () => {
    const returning = WidgetService.methods.filter((_, index) => {
      const service = altered(
        WidgetService,
        (proto) => {
          proto.method(WidgetService.methods[index]!.name).outputType = '.google.longrunning.Operation'
        },
        [file_google_longrunning_operations],
      )
      return 'kind' in standardMethod(service.methods[index]!, WidgetSchema)
    })
    expect(returning.map(({ name }) => name)).to.have.members([
      'DeleteWidget',
      'UndeleteWidget',
      'BatchDeleteWidgets',
    ])
  })
})
