import type { Interfaces } from '@oclif/core'
import { Failure } from '../errors/failure.js'
import { Verb } from '../verb/verb.js'
import { type KeptFlags, withKeptFlags } from './lines/kept-flags.js'

/** A `migrate` command. Every command line in what it prints has the flags that it needs as well. */
export abstract class MigrateVerb extends Verb {
  #kept: KeptFlags = {}

  protected override say(lines: readonly string[]): void {
    super.say(lines.map((line) => this.#whole(line)))
  }

  protected override note(lines: readonly string[]): void {
    super.note(lines.map((line) => this.#whole(line)))
  }

  protected override async parse<
    F extends Interfaces.OutputFlags<Interfaces.FlagInput>,
    B extends Interfaces.OutputFlags<Interfaces.FlagInput>,
    A extends Interfaces.OutputArgs<Interfaces.ArgInput>,
  >(options?: Interfaces.Input<F, B, A>, argv?: string[]): Promise<Interfaces.ParserOutput<F, B, A>> {
    const parsed = await super.parse(options, argv)
    this.#kept = parsed.flags as KeptFlags
    return parsed
  }

  protected override async catch(error: Error): Promise<never> {
    return super.catch(
      error instanceof Failure
        ? new Failure(error.exit, this.#whole(error.message), { cause: error.cause })
        : error,
    )
  }

  #whole(text: string): string {
    return withKeptFlags(text, this.#kept)
  }
}
