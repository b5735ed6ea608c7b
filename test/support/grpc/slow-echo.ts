import { file_google_longrunning_operations } from 'ashlar-annotations/google/longrunning/operations_pb.js'
import { altered } from './altered.js'
import { EchoService } from '../gen/specimens_pb.js'

/** The echo service, changed so that its method returns an operation. */
export const SlowEcho = altered(
  EchoService,
  (proto) => {
    proto.method('Echo').outputType = '.google.longrunning.Operation'
    proto.bindPath('Echo', { pattern: { case: 'post', value: '/v1/echo' }, body: '*' })
  },
  [file_google_longrunning_operations],
)
