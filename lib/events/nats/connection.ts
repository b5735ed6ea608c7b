import type { JetStreamClient, JetStreamManager, StreamConfig } from '@nats-io/jetstream'
import type { NatsConnection, NodeConnectionOptions } from '@nats-io/transport-node'
import { OptionError, Unavailable } from '../../errors.js'
import type { NatsOptions } from './nats-options.js'
import { loadNats, MISSING_PACKAGES } from './packages.js'

/** The connection to a stream. */
export interface StreamConnection {
  readonly packages: typeof import('@nats-io/jetstream')
  readonly client: JetStreamClient
  readonly manager: JetStreamManager
  /** The maximum message size of the server in bytes. */
  readonly mostBytes: number
}

const TWO_MINUTES_NS = 120e9
/** JetStream API: `stream not found`. */
const STREAM_NOT_FOUND = 10059
const PREFIX = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/
const STREAM = /^[A-Za-z0-9_-]{1,200}$/

/** Connects on first use and again after a lost connection, and creates the stream if it does not exist. */
export class NatsStream {
  readonly prefix: string
  readonly name: string
  #opening: Promise<StreamConnection> | undefined
  #isOpening = false
  #connection: NatsConnection | undefined
  readonly #reconnected = new Set<() => void>()

  /**
   * @throws OptionError if the prefix, a server or the stream's name is invalid.
   */
  constructor(private readonly options: NatsOptions) {
    const { prefix = 'events', stream = 'EVENTS' } = options
    if (!PREFIX.test(prefix))
      throw new OptionError('prefix', `"${prefix}" is not a subject prefix such as events or acme.events`)
    for (const server of [options.servers].flat())
      if (!URL.canParse(server))
        throw new OptionError('servers', 'one is not a URL, such as nats://127.0.0.1:4222')
    if (!STREAM.test(stream))
      throw new OptionError('stream', `"${stream}" is not a stream name such as EVENTS`)
    this.prefix = prefix
    this.name = stream
  }

  /** Returns the problems that prevent every connection. An unreachable server is not included. */
  async startUpCheck(): Promise<readonly string[]> {
    return (await loadNats()) === undefined ? [MISSING_PACKAGES] : []
  }

  /**
   * Returns a connection to the existing stream.
   *
   * @throws Unavailable if the server cannot be reached.
   * @throws TypeError if the stream was created for another purpose.
   */
  open(): Promise<StreamConnection> {
    if (this.#connection?.isClosed() === true) this.recheck()
    return (this.#opening ??= this.#open())
  }

  /** Makes the next `open` check the stream again, because it may have been deleted. */
  recheck(): void {
    if (!this.#isOpening) this.#opening = undefined
  }

  /**
   * Calls `listener` when a lost connection is restored.
   *
   * @returns a function that removes the listener.
   */
  onReconnect(listener: () => void): () => void {
    this.#reconnected.add(listener)
    return () => void this.#reconnected.delete(listener)
  }

  async close(): Promise<void> {
    await this.#opening?.catch(() => {})
    await this.#connection?.close()
  }

  async #open(): Promise<StreamConnection> {
    this.#isOpening = true
    try {
      return await this.#opened()
    } catch (error) {
      this.#opening = undefined
      throw error
    } finally {
      this.#isOpening = false
    }
  }

  async #opened(): Promise<StreamConnection> {
    const loaded = await loadNats()
    if (loaded === undefined) throw new TypeError(MISSING_PACKAGES)
    const { transport, jetstream: packages } = loaded
    try {
      const connection = await this.#connected(transport.connect)
      const manager = await packages.jetstreamManager(connection)
      await this.#prepare(packages, manager)
      const mostBytes = connection.info?.max_payload ?? Number.POSITIVE_INFINITY
      return { packages, manager, client: packages.jetstream(connection), mostBytes }
    } catch (error) {
      if (error instanceof TypeError) throw error
      throw new Unavailable(
        `NATS cannot be reached: ${error instanceof Error ? error.message : error}`,
        error,
      )
    }
  }

  async #connected(connect: typeof import('@nats-io/transport-node').connect): Promise<NatsConnection> {
    if (this.#connection?.isClosed() === false) return this.#connection
    const { servers, connection = {} } = this.options
    const made = await connect({
      maxReconnectAttempts: -1,
      reconnectTimeWait: 500,
      // A server that disappears without closing the connection is noticed after three pings.
      pingInterval: 10_000,
      ...loginIn(servers),
      ...connection,
    })
    void this.#watch(made)
    return (this.#connection = made)
  }

  /** Reports restored connections until the connection is closed. */
  async #watch(connection: NatsConnection): Promise<void> {
    for await (const { type } of connection.status())
      if (type === 'reconnect') for (const listener of this.#reconnected) listener()
  }

  /** Creates the stream, or checks that an existing one retains events. */
  async #prepare(packages: typeof import('@nats-io/jetstream'), manager: JetStreamManager): Promise<void> {
    const config = await this.#configured(packages, manager)
    const { subjects = [], retention } = config
    const wanted = `${this.prefix}.>`
    if (!subjects.includes(wanted))
      throw new TypeError(`the stream ${this.name} has the subjects ${subjects.join(', ')}, not ${wanted}`)
    if (retention !== packages.RetentionPolicy.Limits)
      throw new TypeError(`the stream ${this.name} has the retention ${retention}: events require limits`)
  }

  async #configured(
    packages: typeof import('@nats-io/jetstream'),
    manager: JetStreamManager,
  ): Promise<Partial<StreamConfig>> {
    const { name, prefix } = this
    try {
      return (await manager.streams.info(name)).config
    } catch (error) {
      if (apiCode(error) !== STREAM_NOT_FOUND) throw error
      const made = await manager.streams.add({
        name,
        subjects: [`${prefix}.>`],
        duplicate_window: TWO_MINUTES_NS,
        ...{ retention: packages.RetentionPolicy.Limits, storage: packages.StorageType.File },
        num_replicas: this.options.replicas ?? 1,
      })
      return made.config
    }
  }
}

/**
 * Returns the addresses and the login in the first address, which the client would treat as a part of the
 * address.
 */
function loginIn(servers: string | readonly string[]): NodeConnectionOptions {
  const urls = [servers].flat().map((server) => new URL(server))
  const { username = '', password = '' } = urls.find((url) => url.username !== '') ?? {}
  const [user, pass] = [username, password].map(decodeURIComponent)
  const login = username === '' ? {} : password === '' ? { token: user } : { user, pass }
  return {
    servers: urls.map(({ protocol, host }) => `${protocol}//${host}`),
    ...login,
  } as NodeConnectionOptions
}

/** Returns the `err_code` of a JetStream API error. */
export const apiCode = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined
