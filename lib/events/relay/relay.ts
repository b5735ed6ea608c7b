import { type EventWorker, workerOf } from '../following/event-worker.js'
import { Follower, type FollowerOptions } from '../following/follower.js'
import { checkedName } from '../following/worker-name.js'
import type { ListenOptions } from '../log/listen.js'
import { type OutboxOwner, outboxStoreOf } from '../store/outbox-store.js'
import type { Sink } from './sink.js'

export interface RelayOptions extends FollowerOptions, ListenOptions {
  /** The owner of the outbox. Use a `MemoryDatabase` in tests. */
  readonly dataSource: OutboxOwner
  readonly sink: Sink
  /** A name that distinguishes relays with different sinks: letters, digits, `_` and `-`. Default: `nats`. */
  readonly name?: string
}

/** The number of events, each of a different resource, that are delivered at the same time. */
const IN_FLIGHT = 512

/**
 * Creates a worker that delivers the events of an outbox to a sink at least once, and in order for each
 * resource. Any number of processes can run it. One of them works, and the others stand by.
 *
 * @example
 * ```ts
 * import { natsSink, relay } from 'ashlar/events'
 * import type { DataSource } from 'typeorm'
 *
 * export const events = (dataSource: DataSource) =>
 *   relay({ dataSource, sink: natsSink({ servers: 'nats://127.0.0.1:4222' }) })
 * ```
 */
export function relay({ dataSource, sink, name = 'nats', listenDsn, ...options }: RelayOptions): EventWorker {
  const store = outboxStoreOf(dataSource)
  const { log } = store
  const follower = new Follower(
    store,
    {
      name: `relay:${checkedName(name)}`,
      log,
      ahead: IN_FLIGHT,
      concurrency: IN_FLIGHT,
      tidy: () => log.prune(),
      isMine: () => true,
      handle: (event) => sink.deliver(event),
    },
    options,
  )
  const listener = store.listener(listenDsn, options.onFailure)
  const identity = { owner: dataSource, kind: 'relay', name, follows: 'its sink' } as const
  return workerOf(identity, follower, listener, { other: sink })
}
