import { Inject, Injectable } from '@nestjs/common'
import type { Server } from '../server/index.js'
import { Serving } from './serving.js'
import { serverToken } from './injection-tokens.js'

/** A result in the format of `@nestjs/terminus`. */
export type HealthResult<Key extends string = string> = Readonly<
  Record<
    Key,
    { readonly status: 'up' | 'down'; readonly failing?: readonly string[]; readonly message?: string }
  >
>

/** Reports the server's health to a health check: `health.check([() => ashlar.isHealthy('ashlar')])`. */
@Injectable()
export class AshlarHealthIndicator {
  readonly #server: Server
  readonly #serving: Serving

  /** @internal Nest passes the server. */
  constructor(@Inject(serverToken()) server: Server, @Inject(Serving) serving: Serving) {
    this.#server = server
    this.#serving = serving
  }

  /**
   * Runs the readiness checks. `down` contains the names of failing checks, never their errors. The result is
   * also `down` before and after serving.
   */
  async isHealthy<const Key extends string = 'ashlar'>(key = 'ashlar' as Key): Promise<HealthResult<Key>> {
    return { [key]: await this.#state() } as HealthResult<Key>
  }

  async #state(): Promise<HealthResult[string]> {
    if (this.#serving.failure !== undefined) return { status: 'down', message: 'the server failed' }
    const { serving, checks } = await this.#server.readiness()
    const failing = checks.filter(({ ok }) => !ok).map(({ name }) => name)
    if (failing.length > 0) return { status: 'down', failing }
    return serving ? { status: 'up' } : { status: 'down', message: 'not serving' }
  }
}
