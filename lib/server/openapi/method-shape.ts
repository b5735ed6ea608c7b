import type { DescMessage, DescMethod, DescService } from '@bufbuild/protobuf'
import type { Repository } from '../../persistence/contract/repository.js'
import { fieldNamed } from '../../resource/messages/field-readers.js'
import { type StandardMethod, standardMethod } from '../methods/standard-method.js'

/** The kind of a method, derived from its name and the messages in its service. */
export interface MethodShape {
  /** The method's resource, if its service declares one. */
  readonly resource: DescMessage | undefined
  /** The service's repository, if it stores that resource. */
  readonly repository: Repository<object> | undefined
  /** The standard method that it resembles, whatever implements it; undefined for other methods. */
  readonly standard: StandardMethod | undefined
  /** The reason why it is not a standard method. */
  readonly differs: string
}

/** Returns the kinds of a service's methods. */
export const shapesIn = (
  service: DescService,
  repository: Repository<object> | undefined,
): ((desc: DescMethod) => MethodShape) => {
  const resources = resourcesOf(service, repository)
  return (desc) => about(desc, resources, repository)
}

const about = (
  desc: DescMethod,
  resources: readonly DescMessage[],
  repository: Repository<object> | undefined,
): MethodShape => {
  let differs = 'its service has no identifiable resource'
  for (const resource of resources) {
    const model = repository?.model
    const standard = standardMethod(desc, resource, model?.message === resource ? model.name : undefined)
    const kept = repository?.model.message === resource ? repository : undefined
    if (!('differs' in standard)) return { resource, repository: kept, standard, differs: '' }
    if (resource === desc.output || resources.length === 1) differs = standard.differs
  }
  const [only] = resources
  const resource = resources.includes(desc.output) ? desc.output : resources.length === 1 ? only : undefined
  const kept = resource !== undefined && repository?.model.message === resource ? repository : undefined
  return { resource, repository: kept, standard: undefined, differs }
}

/** Returns the repository's resource and every message that standard methods of the service return. */
const resourcesOf = (
  service: DescService,
  repository: Repository<object> | undefined,
): readonly DescMessage[] => {
  const kept = repository?.model.message
  const returned = service.methods.flatMap(({ output }) => [
    output,
    ...output.fields.flatMap((field) => (field.fieldKind === 'list' && field.message ? [field.message] : [])),
  ])
  const standard = returned.filter((message) =>
    fieldNamed(message, 'id') !== undefined || fieldNamed(message, 'name') !== undefined
      ? service.methods.some((method) => !('differs' in standardMethod(method, message)))
      : false,
  )
  return [...new Set([...(kept === undefined ? [] : [kept]), ...standard])]
}
