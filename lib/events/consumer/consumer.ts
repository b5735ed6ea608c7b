import { type FailureReport, RequestContext } from '../../context.js'
import { ReportLimit } from '../../faults/report-limit.js'
import type { TransactionContext } from '../../persistence/sql/transaction-context.js'
import { type EventWorker, workerOf } from '../following/event-worker.js'
import { Follower, type FollowerOptions } from '../following/follower.js'
import { checkedName } from '../following/worker-name.js'
import { CONSUMER_CURSOR, STREAM_CURSOR } from '../log/cursor-names.js'
import type { ListenOptions } from '../log/listen.js'
import { NatsStream } from '../nats/connection.js'
import type { NatsOptions } from '../nats/nats-options.js'
import { StreamLog } from '../nats/stream-log.js'
import { type EventSubject, isFollowed, shownSubject } from '../nats/event-subject.js'
import { type OutboxOwner, outboxStoreOf } from '../store/outbox-store.js'
import { subjectProblems } from '../../persistence/outbox/events/subject-problems.js'
import { received, type ReceivedEvent } from './received-event.js'

export interface ConsumerOptions extends FollowerOptions, ListenOptions {
  /**
   * The name of the consumer's cursor, lease and markers: up to 200 letters, digits, `_` and `-`. A consumer
   * with a new name receives every event. Of all consumers with the same name only one works at a time, so a
   * process runs at most one of them.
   */
  readonly name: string
  /** The events to handle. Default: all. */
  readonly subject?: EventSubject
  /**
   * `'off'` disables the check that the subject matches a change of a resource of `dataSource`. With the
   * check, a wrong subject prevents startup. Use it if `emit` writes events whose names resemble a resource
   * or its changes.
   */
  readonly subjectCheck?: 'off'
  /**
   * The database of the effects and of the consumer's progress. Without `nats`, the consumer follows this
   * database's outbox. Use a `MemoryDatabase` in tests.
   */
  readonly dataSource: OutboxOwner
  /** The stream to follow. Default: the outbox of `dataSource`. */
  readonly nats?: NatsOptions
  /** The number of events, of different resources, that are handled at the same time. Default: 4. */
  readonly concurrency?: number
  /** The time in milliseconds for which handled events are remembered. Default: 30 days. */
  readonly markersKeptMs?: number
}

/**
 * Handles an event inside a transaction on the consumer's DataSource. The principal is `consumer:<name>`, of
 * the event's tenant. If it throws, the transaction is rolled back and the event is retried.
 */
export type EventHandler<Data = unknown> = (
  event: ReceivedEvent<Data>,
  context: TransactionContext,
) => Promise<unknown>

const [AHEAD, CONCURRENCY, THIRTY_DAYS_MS] = [256, 4, 30 * 24 * 3_600_000]

/**
 * Creates a worker that handles events, those of one resource in order. An event may be delivered again, but
 * its effects in the database happen once, because the same transaction records that it is done. Any number
 * of processes can run the worker. One of them works per name, and the others stand by.
 *
 * @throws TypeError, RangeError if an option is invalid.
 * @example
 * ```ts
 * import { consumer } from 'ashlar/events'
 * import type { DataSource } from 'typeorm'
 *
 * export const mails = (dataSource: DataSource) =>
 *   consumer({ name: 'mails', subject: { resource: 'order', verb: 'paid' }, dataSource }, async ({ key }, { sql }) => {
 *     await sql`INSERT INTO mails (order_id) VALUES (${key})`
 *   })
 * ```
 */
export function consumer<Data = unknown>(
  { name, subject = {}, subjectCheck, dataSource, nats, listenDsn, ...options }: ConsumerOptions,
  handler: EventHandler<Data>,
): EventWorker {
  const { concurrency = CONCURRENCY, markersKeptMs = THIRTY_DAYS_MS, onFailure } = options
  if (!Number.isSafeInteger(concurrency) || concurrency < 1)
    throw new RangeError(`${name}: concurrency must be a whole number from 1`)
  if (!(markersKeptMs >= 0)) throw new RangeError(`${name}: markersKeptMs must be a number of milliseconds`)
  if (nats !== undefined && listenDsn !== undefined)
    throw new TypeError(
      `${name}: listenDsn is for a consumer that follows an outbox, but this one follows a stream`,
    )
  const store = outboxStoreOf(dataSource)
  const markers = store.markers(checkedName(name), markersKeptMs)
  const stream = nats && new NatsStream(nats)
  const follower = new Follower(
    store,
    {
      name: `${stream === undefined ? CONSUMER_CURSOR : STREAM_CURSOR}${name}`,
      log: stream === undefined ? store.log : new StreamLog(stream, subject, reporting(name, onFailure)),
      ahead: AHEAD,
      concurrency,
      begin: () => markers.begin(),
      tidy: async () => {
        await markers.prune()
        if (stream === undefined) await store.log.prune()
      },
      isMine: (event) => isFollowed(subject, event),
      handle: async (logged, signal) => {
        const { event, trace } = received(logged)
        const { requestId, tenant } = event
        const principal = { subject: `consumer:${name}`, tenant, groups: [], scopes: [] }
        const context = new RequestContext({ requestId, trace, principal, signal })
        await store.transaction(context, async (inside) => {
          if (await markers.mark(inside, tenant, event.id))
            await handler(event as ReceivedEvent<Data>, inside)
        })
      },
    },
    options,
  )
  const listener = store.listener(listenDsn, onFailure)
  const identity = { owner: dataSource, kind: 'consumer', name, follows: shownSubject(subject) } as const
  const problems = () =>
    subjectCheck === 'off' ? [] : subjectProblems(subject, store.resources(), stream !== undefined)
  return workerOf(identity, follower, listener, { other: stream, problems })
}

/**
 * Returns a limited report function, because a client that can write to the stream could cause many reports.
 */
const reporting = (name: string, onFailure?: FailureReport): ((error: TypeError) => void) => {
  const reports = new ReportLimit()
  const report = onFailure ?? (({ message, error }) => new RequestContext().reportFailure(message, error))
  return (error) =>
    reports.tell('a message of the stream is skipped', undefined, (more) =>
      report({ requestId: '', message: `${name}: a message of the stream is skipped${more}`, error }),
    )
}
