import { inEntity, problem, type Problem } from '../../errors.js'
import type { DescField, DescMethod, DescService, Registry as TypeRegistry } from '@bufbuild/protobuf'
import { registryOf } from '../../gateway/json/type-registry.js'
import type { Repository } from '../../persistence/contract/repository.js'
import { undeclaredIn } from '../../resource/messages/go-options.js'
import { isMarkedSecret, type Redaction } from '../../resource/redaction.js'
import { sharedTypeProblems } from '../../resource/resource-type.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { Handler } from '../chain/handler.js'
import { methodOf } from '../chain/method.js'
import type { Registered } from '../chain/registered.js'
import { handlerOf, ownFunction, type ServiceParts } from './handler-of.js'
import { standardMethod, type StandardMethod } from './standard-method.js'
import type { ListLimits } from './total-size.js'

export interface ServedStandardMethod<K extends StandardMethod['kind']> {
  readonly desc: DescMethod
  readonly method: StandardMethod & { readonly kind: K }
  /** True if an application function implements or wraps the method. */
  readonly isOwn: boolean
  readonly repository: Repository<object>
}

/** All served services, and the implementation of each method. */
export class Registry implements Redaction {
  readonly #services = new Map<string, DescService>()
  readonly #parts = new Map<DescService, ServiceParts>()
  readonly #methods = new Map<DescMethod, Registered>()
  readonly #repositories = new Map<string, Repository<object>>()
  readonly #secretFields = new Set<string>()
  readonly #problems: Problem[] = []
  readonly #standard = new Map<ResourceModel, readonly ServedStandardMethod<StandardMethod['kind']>[]>()
  #types: TypeRegistry | undefined

  constructor(private readonly limits: ListLimits) {}

  add(service: DescService, parts: ServiceParts): void {
    if (this.#services.has(service.typeName)) {
      this.#problems.push(problem('service', `${service.typeName} is registered twice`))
      return
    }
    this.#types = undefined
    this.#standard.clear()
    this.#services.set(service.typeName, service)
    this.#parts.set(service, parts)
    if (parts.repository !== undefined) this.#addRepository(service, parts.repository)
    this.#problems.push(...undeclaredOptions(service))
    for (const desc of service.methods) {
      const handler = this.#handlerFor(desc, parts)
      if (handler !== undefined) this.#methods.set(desc, { method: methodOf(desc), handler })
    }
  }

  /** Returns every method that has a handler. */
  methods(): ReadonlyMap<DescMethod, Registered> {
    return this.#methods
  }

  services(): readonly DescService[] {
    return [...this.#services.values()]
  }

  parts(): ReadonlyMap<DescService, ServiceParts> {
    return this.#parts
  }

  repositories(): readonly Repository<object>[] {
    return [...this.#repositories.values()]
  }

  /** Returns the fields that contain the keys or items of batches executed by a repository. */
  batchFields(): ReadonlySet<DescField> {
    const fields = new Set<DescField>()
    for (const { model } of this.repositories())
      for (const { method, isOwn } of this.allStandard(model)) {
        if (isOwn) continue
        if (method.kind === 'batchUpdate') fields.add(method.requests)
        else if (method.kind === 'batchGet' || method.kind === 'batchDelete') fields.add(method.keys)
      }
    return fields
  }

  /** Returns the standard methods of one kind that serve a resource. */
  standardMethods<K extends StandardMethod['kind']>(
    model: ResourceModel,
    kind: K,
  ): readonly ServedStandardMethod<K>[] {
    return this.allStandard(model).filter((one): one is ServedStandardMethod<K> => one.method.kind === kind)
  }

  /** Returns the standard methods that serve a resource. */
  allStandard(model: ResourceModel): readonly ServedStandardMethod<StandardMethod['kind']>[] {
    let all = this.#standard.get(model)
    if (all === undefined) this.#standard.set(model, (all = [...this.#standardMethodsOf(model)]))
    return all
  }

  /**
   * Returns true if a message field contains a secret or a credential, by its option or by a registered
   * resource.
   */
  isSecret(field: DescField): boolean {
    return this.#secretFields.has(`${field.parent.typeName}.${field.name}`) || isMarkedSecret(field)
  }

  /** All types that a google.protobuf.Any in the services' messages can contain. */
  get types(): TypeRegistry {
    return (this.#types ??= registryOf(this.services().flatMap(({ methods }) => methods)))
  }

  /** Returns the problems that prevent the services from being served. */
  problems(): readonly Problem[] {
    return this.#problems
  }

  *#standardMethodsOf({
    message,
    name,
  }: ResourceModel): Iterable<ServedStandardMethod<StandardMethod['kind']>> {
    for (const [service, { repository, implementation }] of this.#parts) {
      if (repository === undefined || message === undefined) continue
      if (repository.model.message?.typeName !== message.typeName) continue
      for (const desc of service.methods) {
        const method = standardMethod(desc, message, name)
        if ('differs' in method) continue
        yield { desc, method, isOwn: ownFunction(desc, implementation) !== undefined, repository }
      }
    }
  }

  #addRepository(service: DescService, repository: Repository<object>): void {
    const { message, type } = repository.model
    if (message === undefined) {
      this.#problems.push(
        problem(
          'service',
          `${service.typeName}: resource ${type} is not linked to its message`,
          '@Resource({ message })',
        ),
      )
      return
    }
    const other = this.#repositories.get(message.typeName)
    if (other !== undefined && other.model.entity !== repository.model.entity) {
      const [one, two] = [other.model.entity.name, repository.model.entity.name]
      this.#problems.push(
        problem('service', `${message.typeName} is the message of two entities, ${one} and ${two}`),
      )
    }
    const known = this.repositories().map(({ model }) => model)
    this.#problems.push(
      ...inEntity(repository.model.entity, sharedTypeProblems(repository.model, known), true),
    )
    this.#repositories.set(message.typeName, repository)
    const { secrets, credentials } = repository.model
    for (const { proto } of [...secrets, ...credentials])
      this.#secretFields.add(`${message.typeName}.${proto}`)
  }

  #handlerFor(desc: DescMethod, parts: ServiceParts): Handler | undefined {
    const handler = handlerOf(desc, parts, this.limits)
    if (!('problem' in handler)) return handler
    this.#problems.push(handler.problem)
    return undefined
  }
}

/** Returns a problem for each method or field option in code that was generated for an earlier version. */
const undeclaredOptions = (service: DescService): Problem[] =>
  undeclaredIn(service).map(({ described: { name, parent }, number }) =>
    problem(
      'service',
      `${name} of ${parent.typeName} has the option ${number}, which no file that ${parent.file.proto.name} imports declares: it was generated for an earlier version`,
      'generate the code again',
    ),
  )
