/**
 * Relays, consumers and the outbox of domain events.
 * @module
 */
export { consumer, type ConsumerOptions, type EventHandler } from './consumer/consumer.js'
export type { ReceivedEvent } from './consumer/received-event.js'
export type { DeadLetter } from './store/sql-dead-letters.js'
export type { FollowerOptions, WorkerStatus } from './following/follower.js'
export { type CursorStatus, type DeadLetterOptions, Outbox, type OutboxStatus } from './following/outbox.js'
export type { LoggedEvent } from './log/event-log.js'
export type { ListenOptions } from './log/listen.js'
export type { NatsOptions } from './nats/nats-options.js'
export { natsSink } from './nats/nats-sink.js'
export type { EventSubject } from './nats/event-subject.js'
export { OptionError } from '../errors.js'
export type { EventWorker } from './following/event-worker.js'
export { relay, type RelayOptions } from './relay/relay.js'
export type { Sink } from './relay/sink.js'
export type { OutboxOwner } from './store/outbox-store.js'
