import type { RequestContext } from '../../context.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { ReferringOptions } from '../contract/related-options.js'
import type { ListScope, RowOptions } from '../contract/repository.js'
import { lockOf } from '../contract/row-lock.js'
import { scopeOf } from '../contract/scope.js'
import { type Hooks, toCaller } from '../hooks/call-hooks.js'
import type {
  Operations,
  ReadOperation,
  ReadSettings,
  SendOptions,
  WriteOperation,
} from '../repository/operations.js'
import type { MemoryCall, MemoryDatabase, MemoryRows } from './memory-database.js'
import type { MemoryReferable, MemoryReferences } from './memory-references.js'

/** Runs a repository's operations in memory. */
export class MemoryOperations implements Operations<MemoryCall> {
  constructor(
    private readonly database: MemoryDatabase,
    private readonly model: ResourceModel,
    private readonly hooks: Pick<Hooks<object>, 'surround'>,
    private readonly references: MemoryReferences | undefined,
  ) {}

  async read<T>(
    name: string,
    options: ListScope | undefined,
    work: (operation: ReadOperation<MemoryCall>) => Promise<T>,
    settings: ReadSettings = {},
  ): Promise<T> {
    const scope = settings.scope ?? scopeOf(this.model, options)
    const { context } = scope
    const lock = lockOf(this.database, this.#named(name), options, settings)
    const read = (rows: MemoryRows) => work({ call: { ...rows, context }, scope, lock })
    return toCaller(this.database.perform(options?.context, this.#named(name), read))
  }

  async write<T>(
    name: string,
    options: (RowOptions & ReferringOptions) | undefined,
    work: (operation: WriteOperation<MemoryCall>) => Promise<T>,
  ): Promise<T> {
    const scope = scopeOf(this.model, options)
    const { context } = scope
    let referable: MemoryReferable | undefined
    const written = async (rows: MemoryRows) => {
      this.database.refuseReadOnly(options?.context, this.#named(name))
      return work({
        scope,
        refers: async (...values) => {
          referable = await this.references?.referable(options?.references, values)
        },
        send: (write, how) => {
          const callOf = (on: MemoryRows): MemoryCall => ({ ...on, context, referable })
          return this.#send(name, options?.context, callOf, rows, write, how)
        },
      })
    }
    return toCaller(this.database.perform(options?.context, this.#named(name), written))
  }

  #send<T>(
    name: string,
    given: RequestContext | undefined,
    callOf: (on: MemoryRows) => MemoryCall,
    rows: MemoryRows,
    write: (call: MemoryCall) => Promise<T>,
    { isAtomic = false, together }: SendOptions<MemoryCall> = {},
  ): Promise<T> {
    if (this.hooks.surround(name) || together?.callsHooks === true)
      return this.database.withHooks(given, this.#named(name), (on, inside) =>
        write({ ...callOf(on), inside }),
      )
    if (!isAtomic && together === undefined) return write(callOf(rows))
    return this.database.atomically(given, this.#named(name), (on) => write(callOf(on)))
  }

  #named(name: string): string {
    return `${this.model.entity.name}.${name}`
  }
}
