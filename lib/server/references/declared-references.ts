import type { Problem } from '../../errors.js'
import type { DescMessage, DescService } from '@bufbuild/protobuf'
import { referenceFields } from '../../resource/relations/reference-fields.js'
import { resourceAnnotation } from '../../resource/names/resource-annotation.js'
import type { ServiceParts } from '../methods/handler-of.js'
import { batchedMessages } from './batch-get.js'
import { type ExternalTarget, externalTarget, type ExternalTargetOptions } from './external-target.js'

/** A resource field that contains the key of another resource (google.api.resource_reference). */
export interface Reference {
  /** Full name of the field, such as `widgets.v1.Part.widget`. */
  readonly field: string
  /** Type of the referenced resource. */
  readonly target: string
}

/**
 * All declared references and their resolvable targets. `serve` warns about references whose target is not
 * declared.
 */
export class References {
  readonly #references = new Map<string, Reference>()
  readonly #batchTargets = new Set<string>()
  readonly #external = new Map<string, ExternalTarget>()

  record(...references: readonly Reference[]): void {
    for (const reference of references)
      this.#references.set(`${reference.field} ${reference.target}`, reference)
  }

  /** Records the references of a service's resources and the types that it returns in batches. */
  recordService(service: DescService, { repository }: ServiceParts): void {
    for (const message of resourcesOf(service, repository?.model.message))
      for (const { field, type } of referenceFields(message))
        this.record({ field: `${field.parent.typeName}.${field.name}`, target: type })
    for (const message of batchedMessages(service)) {
      const type = resourceAnnotation(message)?.type
      if (type !== undefined) this.recordBatchTarget(type)
      if (message.typeName === repository?.model.message?.typeName)
        this.recordBatchTarget(repository.model.type)
    }
  }

  /** Records a type that this process resolves through its BatchGet. */
  recordBatchTarget(type: string): void {
    this.#batchTargets.add(type)
  }

  /** Records a type that another process serves, with its address if known. */
  recordExternalTarget(type: string, address?: string, options: ExternalTargetOptions = {}): void {
    this.#external.get(type)?.close()
    this.#external.set(type, externalTarget(type, address, options))
  }

  all(): readonly Reference[] {
    return [...this.#references.values()]
  }

  /** Returns the types that other processes serve. */
  external(): ReadonlyMap<string, ExternalTarget> {
    return this.#external
  }

  /** Returns a problem for each external target with an invalid address. */
  problems(): Problem[] {
    return [...this.#external.values()].flatMap(({ problems }) => problems)
  }

  /** Returns each type to which fields refer but that nothing resolves. */
  unresolved(): readonly { readonly target: string; readonly fields: readonly string[] }[] {
    const dangling = this.all().filter(
      ({ target }) => !this.#batchTargets.has(target) && !this.#external.has(target),
    )
    return [...new Set(dangling.map(({ target }) => target))].map((target) => ({
      target,
      fields: dangling.flatMap((one) => (one.target === target ? one.field : [])),
    }))
  }
}

/**
 * Returns the resources of a service: its repository's, and the returned messages that are declared as
 * resources.
 */
function resourcesOf(service: DescService, own: DescMessage | undefined): ReadonlySet<DescMessage> {
  const returned = service.methods.flatMap(({ output }) => [
    output,
    ...output.fields.flatMap(({ message }) => message ?? []),
  ])
  const annotated = returned.filter((message) => resourceAnnotation(message) !== undefined)
  return new Set(own === undefined ? annotated : [own, ...annotated])
}
