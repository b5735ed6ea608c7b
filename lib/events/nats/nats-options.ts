/**
 * A stream of NATS JetStream. Its packages are optional peers: `@nats-io/jetstream` and
 * `@nats-io/transport-node`.
 */
export interface NatsOptions {
  /**
   * `nats://host:4222`, one or several of a cluster. `nats://user:password@host` and `nats://token@host` log
   * in.
   */
  readonly servers: string | readonly string[]
  /** Begins each subject. Default `events`. */
  readonly prefix?: string
  /** The name of the stream. Default `EVENTS`. */
  readonly stream?: string
  /** The number of servers that keep the stream when it is made. Default 1. */
  readonly replicas?: number
  /**
   * Further options of `connect()` of `@nats-io/transport-node`, its `NodeConnectionOptions`: an
   * authenticator, TLS.
   */
  readonly connection?: Readonly<Record<string, unknown>>
}
