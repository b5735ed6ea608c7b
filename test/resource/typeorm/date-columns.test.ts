import 'reflect-metadata'
import { FieldDescriptorProto_Type as Type } from '@bufbuild/protobuf/wkt'
import { expect } from 'chai'
import { Column, Entity, PrimaryColumn } from 'typeorm'
import { ETag, Resource, TenantScoped } from '../../../decorators/index.js'
import { DeclarationError } from '../../../lib/errors.js'
import { resourceModel } from '../../../lib/resource/model-of.js'
import { serviceWith } from '../../conformance/properties/property-kinds.js'

describe('a date column whose field is a Timestamp', () => {
  const service = serviceWith({
    addTo: (proto) =>
      proto.addField('Task', 'worth', Type.MESSAGE, { typeName: '.google.protobuf.Timestamp' }),
  })
  for (const designType of [Date, String, Number])
    for (const existing of [false, true])
      it(`is rejected: ${designType.name}${existing ? ', in an existing table' : ''}`, () => {
        class Task {
          @PrimaryColumn({ length: 40 }) id!: string
          @Column({ length: 40 }) title!: string
          @ETag() etag!: string
          worth!: unknown
          @Column({ length: 40 }) accountId!: string
        }
        Reflect.defineMetadata('design:type', designType, Task.prototype, 'worth')
        Column('date')(Task.prototype, 'worth')
        TenantScoped()(Task)
        Entity('dated_tasks')(Task)
        Resource({
          message: service.method.getTask.output,
          ...(existing && { existing, naming: 'typeorm' }),
        })(Task)
        expect(() => resourceModel(Task)).to.throw(
          DeclarationError,
          'worth is timestamp: the column type date holds text',
        )
      })
})
