import { FieldDescriptorProto_Type as Type, file_google_protobuf_timestamp } from '@bufbuild/protobuf/wkt'
import { messageOf, TEXT, TIME } from '../../conformance/typeorm/declared-row.js'
import { TaskService as Generated } from '../../support/gen/plans_pb.js'
import { altered } from '../../support/grpc/altered.js'

/** The service of tasks, whose message shows some of their columns. */
export const TaskService: typeof Generated = altered(
  Generated,
  (proto) => {
    const left = ['account_id', 'project', 'lead_id', 'lead', 'after_id', 'after', 'etag', 'delete_time']
    for (const name of left) proto.removeField('Task', name)
    const methods = ['PlanTask', 'WatchTasks', 'UndeleteTask']
    for (const one of proto.file.service)
      one.method = one.method.filter(({ name }) => !methods.includes(name))
    proto.addField('Task', 'done', Type.BOOL)
    proto.addField('Task', 'created_at', Type.MESSAGE, { typeName: '.google.protobuf.Timestamp' })
  },
  [file_google_protobuf_timestamp],
)

export const TaskMessage = TaskService.method.getTask.output
/** The other messages show an id, a title, and when a row was made. */
export const Titled = messageOf([
  ['id', TEXT],
  ['title', TEXT],
  ['created_at', TIME],
])
