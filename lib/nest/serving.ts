import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common'
import type { DataSource } from 'typeorm'
import type { Server } from '../server/index.js'
import { dataSourceToken, OPTIONS, serverToken } from './tokens.js'

/** What the module holds on to while it works. */
export interface Held {
  /** Whether the DataSource was initialized here, and so is destroyed here. */
  ownsDataSource: boolean
}

/** Serves when the application has started, and drains when it shuts down. */
@Injectable()
export class Serving implements OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown {
  readonly #server: Server
  readonly #dataSource: DataSource | undefined
  readonly #held: Held
  readonly #stop = new AbortController()
  #served: Promise<void> | undefined
  #failure: unknown

  constructor(
    @Inject(serverToken()) server: Server,
    @Inject(dataSourceToken()) dataSource: DataSource | undefined,
    @Inject(OPTIONS) held: Held,
  ) {
    this.#server = server
    this.#dataSource = dataSource
    this.#held = held
  }

  /** What broke the listeners after they were bound. */
  get failure(): unknown {
    return this.#failure
  }

  /** A server that refuses to serve, or cannot bind, fails `app.init()` and `app.listen()`. */
  async onApplicationBootstrap(): Promise<void> {
    const served = this.#server.serve(this.#stop.signal)
    this.#served = served.catch((error: unknown) => {
      this.#failure = error
    })
    await Promise.race([this.#server.ready(), served])
    void this.#served.then(() => {
      if (this.#failure !== undefined)
        new Logger('AshlarModule').error('the server broke: it answers no more', this.#failure)
    })
  }

  /** Before Nest closes its own HTTP server: what runs may end, within 5 seconds. */
  async beforeApplicationShutdown(): Promise<void> {
    this.#stop.abort()
    await this.#served
  }

  async onApplicationShutdown(): Promise<void> {
    if (this.#held.ownsDataSource && this.#dataSource?.isInitialized === true)
      await this.#dataSource.destroy()
  }
}
