import type {
  BeforeApplicationShutdown,
  FactoryProvider,
  OnApplicationBootstrap,
  OnModuleInit,
  Type,
} from '@nestjs/common'
import type { DataSource } from 'typeorm'
import { consumer, type ConsumerOptions, type EventHandler, type EventWorker } from '../events/index.js'
import { dataSourceToken } from './injection-tokens.js'

/** Options of one consumer. */
export type OnEventOptions = Pick<
  ConsumerOptions,
  'name' | 'subject' | 'subjectCheck' | 'concurrency' | 'maxAttempts'
>

/** Options of all consumers of a provider, such as the source of events. */
export type ConsumersOptions = Pick<
  ConsumerOptions,
  'nats' | 'listenDsn' | 'leaseMs' | 'markersKeptMs' | 'onFailure'
>

interface Declared extends OnEventOptions {
  readonly method: string | symbol
}

const declared = new WeakMap<object, Declared[]>()

/**
 * Declares a method of a provider as the handler of a consumer. It receives the event and the context of its
 * transaction. Register the provider with {@link provideConsumers}.
 * @throws TypeError if TypeScript compiles standard decorators, which Nest does not support.
 */
export function OnEvent(options: OnEventOptions): MethodDecorator {
  return (target: object, method: string | symbol): void => {
    if (typeof method === 'object')
      throw new TypeError('@OnEvent: set "experimentalDecorators": true, as Nest requires')
    declared.set(target, [...(declared.get(target) ?? []), { ...options, method }])
  }
}

/**
 * Returns a provider that runs the consumers of another provider with the DataSource of
 * `AshlarModule.forRoot`, from startup to shutdown: `providers: [Mails, provideConsumers(Mails, { nats: {
 * servers: 'nats://127.0.0.1:4222' } })]`.
 */
export const provideConsumers = (
  provider: Type<object>,
  options: ConsumersOptions = {},
): FactoryProvider => ({
  provide: Symbol(`ashlar consumers ${provider.name}`),
  inject: [provider, dataSourceToken()],
  useFactory: (instance: object, dataSource: DataSource | undefined) => {
    const found = declaredBy(instance)
    if (found.length === 0) throw new TypeError(`${provider.name} has no method with @OnEvent`)
    if (dataSource === undefined)
      throw new TypeError(`AshlarModule.forRoot needs a dataSource for the consumers of ${provider.name}`)
    return new Consumers(
      found.map(({ method, ...own }) => {
        const handler = (instance as Readonly<Record<string | symbol, EventHandler>>)[method]
        if (handler === undefined) throw new TypeError(`${provider.name} has no method ${String(method)}`)
        return consumer({ ...options, ...own, dataSource }, (event, context) =>
          handler.call(instance, event, context),
        )
      }),
    )
  },
})

/** Returns the consumers that a provider and its base classes declare. */
function declaredBy(instance: object): Declared[] {
  const found: Declared[] = []
  for (let at = prototypeOf(instance); at !== null; at = prototypeOf(at))
    found.push(...(declared.get(at) ?? []))
  return found
}

const prototypeOf = (value: object) => Object.getPrototypeOf(value) as object | null

class Consumers implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown {
  constructor(private readonly workers: readonly EventWorker[]) {}

  /** @throws TypeError with the problems that prevent startup. */
  async onModuleInit(): Promise<void> {
    const problems = (
      await Promise.all(this.workers.map((worker) => worker.startUpCheck(this.workers)))
    ).flat()
    if (problems.length > 0) throw new TypeError(problems.join('; '))
  }

  onApplicationBootstrap(): void {
    for (const worker of this.workers) worker.start()
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.drain()))
  }
}
