import { create, setExtension } from '@bufbuild/protobuf'
import { FieldOptionsSchema, FieldDescriptorProto_Type as Type } from '@bufbuild/protobuf/wkt'
import { field as fieldOption, FieldSchema } from 'ashlar-annotations/ashlar/api/v1/annotations_pb.js'
import { field_behavior, FieldBehavior } from 'ashlar-annotations/google/api/field_behavior_pb.js'
import { TaskService } from '../../support/gen/plans_pb.js'
import { altered } from '../../support/grpc/altered.js'
import { type Choice, KEYS, TENANTS } from './form-choices.js'

const TIMESTAMP = '.google.protobuf.Timestamp'

/** The service of a resource, as its .proto would have it. */
export function serviceOf({ key, tenant, deletes, hasSecrets }: Choice): typeof TaskService {
  return altered(TaskService, (proto) => {
    for (const owner of ['Task', 'GetTaskRequest', 'DeleteTaskRequest', 'UndeleteTaskRequest'])
      for (const field of proto.message(owner).field) if (field.name === 'id') field.type = KEYS[key].wire
    for (const field of proto.message('BatchGetTasksRequest').field)
      if (field.name === 'ids') field.type = KEYS[key].wire
    for (const name of ['project_id', 'project', 'lead_id', 'lead', 'after_id', 'after'])
      proto.removeField('Task', name)
    const left = ['PlanTask', 'WatchTasks', ...(deletes === 'softly' ? [] : ['UndeleteTask'])]
    for (const one of proto.file.service) one.method = one.method.filter(({ name }) => !left.includes(name))
    if (deletes !== 'softly') proto.removeField('Task', 'delete_time')
    proto.addField('Task', 'note')
    proto.addField('Task', 'count', Type.INT32)
    for (const name of ['create_time', 'update_time', 'expire_time'])
      proto.addField('Task', name, Type.MESSAGE, { typeName: TIMESTAMP })
    if (hasSecrets) for (const name of ['pin', 'api_key']) proto.addField('Task', name)
    for (const field of proto.message('Task').field) {
      if (field.name === 'account_id') Object.assign(field, { name: 'org_id', type: TENANTS[tenant].wire })
      if (['org_id', 'create_time', 'update_time', 'expire_time'].includes(field.name)) {
        field.options ??= create(FieldOptionsSchema)
        setExtension(field.options, field_behavior, [FieldBehavior.OUTPUT_ONLY])
      }
      if (field.name === 'pin' || field.name === 'api_key') {
        field.options = create(FieldOptionsSchema)
        setExtension(field.options, fieldOption, create(FieldSchema, { secret: true }))
      }
      field.jsonName = field.name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
    }
  })
}
