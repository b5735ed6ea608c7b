/**
 * A NATS JetStream stream. Its packages are optional peer dependencies: `@nats-io/jetstream` and
 * `@nats-io/transport-node`.
 */
export interface NatsOptions {
  /**
   * The servers of a cluster, such as `nats://host:4222`. `nats://user:password@host` and `nats://token@host`
   * include a login.
   */
  readonly servers: string | readonly string[]
  /** The first part of every subject. Default: `events`. */
  readonly prefix?: string
  /** The name of the stream. Default: `EVENTS`. */
  readonly stream?: string
  /** The number of servers that store the stream, if it is created. Default: 1. */
  readonly replicas?: number
  /** Further options of `connect()` in `@nats-io/transport-node`, such as an authenticator or TLS. */
  readonly connection?: Readonly<Record<string, unknown>>
}
