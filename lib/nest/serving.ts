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
import { dataSourceToken, OPTIONS, serverToken } from './injection-tokens.js'

/** The state that the module's providers share. */
export interface Held {
  /** True if the module initialized the DataSource and must therefore destroy it. */
  ownsDataSource: boolean
}

/** Serves after the application has started, and drains when it shuts down. */
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

  /** The error that made the listeners fail while serving. */
  get failure(): unknown {
    return this.#failure
  }

  /** Makes `app.init()` and `app.listen()` fail if the server rejects its configuration or cannot listen. */
  async onApplicationBootstrap(): Promise<void> {
    const served = this.#server.serve(this.#stop.signal)
    this.#served = served.catch((error: unknown) => {
      this.#failure = error
    })
    await Promise.race([this.#server.ready(), served])
    void this.#served.then(() => {
      if (this.#failure !== undefined)
        new Logger('AshlarModule').error('the server failed and no longer responds', this.#failure)
    })
  }

  /** Runs before Nest closes its own HTTP server, so that running calls can end within 5 seconds. */
  async beforeApplicationShutdown(): Promise<void> {
    this.#stop.abort()
    await this.#served
  }

  async onApplicationShutdown(): Promise<void> {
    if (this.#held.ownsDataSource && this.#dataSource?.isInitialized === true)
      await this.#dataSource.destroy()
  }
}
