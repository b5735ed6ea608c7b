import type { DescService } from '@bufbuild/protobuf'
import { requireService } from '../resource/messages/descriptor.js'
import { refuseOtherCopy } from '../resource/typeorm/other-copy.js'
import { GatewayMux } from '../gateway/routing/mux.js'
import { type Rule, RuleSet, rulesOf } from './authz/rules.js'
import type { ResolvedConfig } from './config/config.js'
import { References } from './references/declared-references.js'
import type { ServiceParts } from './methods/handler-of.js'
import { Registry } from './methods/registry.js'

/** Adds HTTP handlers to the gateway before the server starts. */
export type GatewayRegistration = (mux: GatewayMux) => void | Promise<void>

/**
 * A server's registrations before it serves. Afterwards, only rules can be added, which take effect at once.
 */
export class Registrations {
  readonly registry: Registry
  readonly references = new References()
  readonly rules: RuleSet
  /** Full names of methods that are served without a descriptor. */
  readonly recorded: string[] = []
  readonly gateway: GatewayRegistration[] = []
  readonly #config: ResolvedConfig
  #mux: GatewayMux | undefined

  constructor(config: ResolvedConfig) {
    this.#config = config
    this.registry = new Registry(config.limits)
    this.rules = new RuleSet(config.rules)
    if (config.httpAddr !== '') this.openMux()
  }

  /** The HTTP handlers of the gateway; undefined without a gateway. */
  get mux(): GatewayMux | undefined {
    return this.#mux
  }

  /** Returns the mux, creating it for a gateway without its own address. */
  openMux(): GatewayMux {
    if (this.#mux !== undefined) return this.#mux
    const mux = new GatewayMux()
    for (const { pattern, handler } of this.#config.httpHandlers) mux.handle(pattern, handler)
    return (this.#mux = mux)
  }

  /**
   * Adds a service with its own rules.
   * @throws DeclarationError for a service of another generator, which has no descriptor, and for a
   *   repository of another copy of this package.
   */
  add(service: DescService, parts: ServiceParts): void {
    requireService('server', 'register', service)
    if (parts.repository !== undefined) refuseOtherCopy(parts.repository.model.entity)
    this.rules.add(...rulesOf(service))
    this.registry.add(service, parts)
    this.references.recordService(service, parts)
  }

  /** Adds a service of the framework. Its rules are not in its .proto file. */
  addBuiltIn(service: DescService, rules: readonly Rule[], implementation: object): void {
    this.rules.add(...rules)
    this.registry.add(service, { implementation })
  }
}
