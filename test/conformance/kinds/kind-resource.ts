import 'reflect-metadata'
import { create, setExtension } from '@bufbuild/protobuf'
import {
  FieldDescriptorProto_Type as Type,
  FieldOptionsSchema,
  file_google_protobuf_duration,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_wrappers,
  OneofOptionsSchema,
} from '@bufbuild/protobuf/wkt'
import {
  field as fieldRules,
  FieldRulesSchema,
  oneof as oneofRules,
  OneofRulesSchema,
} from 'ashlar-annotations/buf/validate/validate_pb.js'
import { Column, Entity, PrimaryColumn } from 'typeorm'
import { Emits, ETag, Resource, Tags, TenantScoped } from '../../../decorators/index.js'
import type { Phase } from '../../support/gen/plans_pb.js'
import { TaskService } from '../../support/gen/plans_pb.js'
import { altered } from '../../support/grpc/altered.js'

const UNUSED = ['project_id', 'project', 'lead_id', 'lead', 'after_id', 'after', 'delete_time']
const LEFT = ['PlanTask', 'WatchTasks', 'UndeleteTask', 'DeleteTask', 'BatchUpdateTasks']
const MESSAGE = (typeName: string) => [Type.MESSAGE, { typeName }] as const
const LIST = (type: Type, typeName = '') => [type, { typeName, repeated: true }] as const

/** Rules of `buf.validate` on fields, as a .proto would state them. */
const RULES: Readonly<Record<string, Parameters<typeof create<typeof FieldRulesSchema>>[1]>> = {
  email: { type: { case: 'string', value: { maxLen: 20n } } },
  seats: { type: { case: 'int64', value: { greaterThan: { case: 'gte', value: 0n } } } },
  ratio: { type: { case: 'double', value: { lessThan: { case: 'lte', value: 10 } } } },
  rank: { type: { case: 'int32', value: { greaterThan: { case: 'gte', value: 0 } } } },
  phases: { type: { case: 'repeated', value: { maxItems: 3n } } },
  names: { type: { case: 'repeated', value: { unique: true } } },
  labels: { type: { case: 'map', value: { maxPairs: 2n } } },
  numbered: { type: { case: 'map', value: { maxPairs: 2n } } },
}

/** A service whose resource has a field of each kind, and rules on them. */
export const service: typeof TaskService = altered(
  TaskService,
  (proto) => {
    for (const name of UNUSED) proto.removeField('Task', name)
    for (const one of proto.file.service) one.method = one.method.filter(({ name }) => !LEFT.includes(name))
    proto.addField('Task', 'email')
    proto.addField('Task', 'seats', Type.INT64)
    proto.addField('Task', 'phase', Type.ENUM, { typeName: '.plans.v1.Phase' })
    proto.addField('Task', 'due', ...MESSAGE('.google.protobuf.Timestamp'))
    proto.addField('Task', 'place', ...MESSAGE('.plans.v1.Country'))
    proto.addField('Task', 'nick', ...MESSAGE('.google.protobuf.StringValue'))
    proto.addField('Task', 'extra', ...MESSAGE('.google.protobuf.Struct'))
    proto.addOneof('Task', 'contact', ['email', 'seats', 'phase', 'due', 'place', 'nick', 'extra'])
    proto.addField('Task', 'ready', Type.BOOL)
    proto.addField('Task', 'ratio', Type.DOUBLE)
    proto.addField('Task', 'rank', Type.INT32, { optional: true })
    proto.addField('Task', 'note', Type.STRING, { optional: true })
    proto.addField('Task', 'state', Type.ENUM, { typeName: '.plans.v1.Phase', optional: true })
    proto.addField('Task', 'blob', Type.BYTES)
    proto.addField('Task', 'wait', ...MESSAGE('.google.protobuf.Duration'))
    proto.addField('Task', 'count', ...MESSAGE('.google.protobuf.UInt64Value'))
    proto.addField('Task', 'home', ...MESSAGE('.plans.v1.Country'))
    proto.addField('Task', 'names', ...LIST(Type.STRING))
    proto.addField('Task', 'phases', ...LIST(Type.ENUM, '.plans.v1.Phase'))
    proto.addField('Task', 'places', ...LIST(Type.MESSAGE, '.plans.v1.Country'))
    proto.addMap('Task', 'labels', Type.STRING, Type.STRING)
    proto.addMap('Task', 'numbered', Type.INT32, '.plans.v1.Country')
    proto.addMap('Task', 'flagged', Type.BOOL, Type.INT64)
    proto.addMap('Task', 'wide', Type.UINT64, Type.DOUBLE)
    proto.addMessage('Geo')
    proto.addField('Geo', 'lat', Type.DOUBLE)
    proto.addField('Geo', 'placed', ...MESSAGE('.google.protobuf.Timestamp'))
    proto.addMessage('Address')
    proto.addField('Address', 'city')
    proto.addField('Address', 'zip', Type.STRING, { optional: true })
    proto.addField('Address', 'floor', Type.INT64)
    proto.addField('Address', 'home', ...MESSAGE('.plans.v1.Country'))
    proto.addField('Address', 'geo', ...MESSAGE('.plans.v1.Geo'))
    proto.addField('Task', 'address', ...MESSAGE('.plans.v1.Address'))
    proto.addField('Task', 'billing', ...MESSAGE('.plans.v1.Address'))
    proto.addField('Task', 'settings', ...MESSAGE('.google.protobuf.Struct'))
    for (const [name, rules] of Object.entries(RULES)) {
      const found = proto.message('Task').field.find((one) => one.name === name)!
      found.options = create(FieldOptionsSchema)
      setExtension(found.options, fieldRules, create(FieldRulesSchema, rules))
    }
    const [contact] = proto.message('Task').oneofDecl
    contact!.options = create(OneofOptionsSchema)
    setExtension(contact!.options, oneofRules, create(OneofRulesSchema, { required: true }))
  },
  [
    ...[file_google_protobuf_struct, file_google_protobuf_timestamp, file_google_protobuf_wrappers],
    file_google_protobuf_duration,
  ],
)

class Geo {
  @Column('float', { nullable: true }) lat?: number
  @Column({ nullable: true }) placed?: Date
}

class Address {
  @Column({ length: 40, nullable: true }) city?: string
  @Column({ length: 10, nullable: true }) zip?: string
  @Column('bigint', { nullable: true }) floor?: bigint
  @Column('simple-json', { nullable: true }) home?: object
  @Column(() => Geo) geo?: Geo
}

@Resource({ type: 'task', message: service.method.getTask.output })
@Entity('kind_tasks')
@TenantScoped()
@Emits({ freeForm: ['settings', 'extra'] })
export class KindTask {
  @PrimaryColumn({ length: 60 }) id!: string
  @Column({ length: 40 }) title!: string
  @Column({ length: 40, nullable: true }) email?: string
  @Column('bigint', { nullable: true }) seats?: bigint
  @Column({ type: 'varchar', length: 20, nullable: true }) phase?: Phase
  @Column({ nullable: true }) due?: Date
  @Column('simple-json', { nullable: true }) place?: object
  @Column({ type: String, length: 40, nullable: true }) nick?: string
  @Column('simple-json', { nullable: true }) extra?: object
  @Column() ready!: boolean
  @Column('float') ratio!: number
  @Column({ nullable: true }) rank?: number
  @Column({ length: 40, nullable: true }) note?: string
  @Column({ type: 'varchar', length: 20, nullable: true }) state?: Phase
  @Column() blob!: Uint8Array
  @Column('bigint', { nullable: true }) wait?: bigint
  @Column('bigint', { nullable: true }) count?: bigint
  @Column('simple-json', { nullable: true }) home?: object
  @Column('simple-json') names!: string[]
  @Column('simple-json') phases!: Phase[]
  @Column('simple-json') places!: object[]
  @Tags() labels!: Record<string, string>
  @Column('simple-json') numbered!: object
  @Column('simple-json') flagged!: object
  @Column('simple-json') wide!: object
  @Column(() => Address) address?: Address
  @Column(() => Address, { prefix: 'bill' }) billing?: Address
  @Column('simple-json', { nullable: true }) settings?: object
  @ETag() etag!: string
  @Column({ length: 40 }) accountId!: string
}
