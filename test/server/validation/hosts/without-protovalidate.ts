import { clone, createFileRegistry, type DescFile, type DescService } from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt'
import { register } from 'node:module'
import { loadMessageRules } from '../../../../lib/server/validation/protovalidate.js'
import { TicketService } from '../../../support/gen/tickets_pb.js'
import { recordingLogger } from '../../../support/servers/server.js'

/**
 * Prints the problems of a server whose .proto has rules, in a process that cannot load what evaluates them.
 */
const hook = `export async function resolve(name, context, next) {
  if (name === '@bufbuild/protovalidate') throw Object.assign(new Error('not found'), { code: 'ERR_MODULE_NOT_FOUND' })
  return next(name, context)
}`
register(`data:text/javascript,${encodeURIComponent(hook)}`)

const files = new Map<string, DescFile['proto']>()
const add = (file: DescFile): void => {
  files.set(file.proto.name, clone(FileDescriptorProtoSchema, file.proto))
  for (const dependency of file.dependencies) add(dependency)
}
add(TicketService.file)
const registry = createFileRegistry(files.get('tickets.proto')!, (name) => files.get(name))
const service = registry.getService(TicketService.typeName) as DescService
const { problems } = await loadMessageRules(
  [service],
  { isSecret: () => false, types: registry },
  recordingLogger(),
)
process.stdout.write(JSON.stringify(problems))
