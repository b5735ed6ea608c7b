import { Command, Errors } from '@oclif/core'
import { EXIT_CODES, type Exit } from '../errors/exit-codes.js'
import { Failure } from '../errors/failure.js'
import { type Paint, paintFor } from '../output/paint.js'
import { terminalLine } from '../output/terminal-line.js'

/**
 * The base class of commands. `run()` parses its flags, calls one function, prints with `say` and `note`, and
 * returns the value that `--json` prints. It throws a `Failure`, or calls `endWith` if its result should be
 * printed nevertheless.
 */
export abstract class Verb extends Command {
  static override enableJsonFlag = true
  /** The meaning of exit status 1 for this command, if it uses it. */
  static differs: string | undefined

  readonly paint: Paint = paintFor(process.stdout)

  /** Values that `--json` prints in addition to an error. */
  readonly beside: Record<string, unknown> = {}

  /** Prints the result. With `--json` only the return value of `run()` is printed. */
  protected say(lines: readonly string[]): void {
    for (const line of lines) this.log(line)
  }

  /** Prints additional information on stderr, with or without `--json`. */
  note(lines: readonly string[]): void {
    const { warn } = paintFor(process.stderr)
    for (const line of lines) process.stderr.write(`${warn('note:')} ${terminalLine(line)}\n`)
  }

  protected endWith(exit: Exit): void {
    process.exitCode = EXIT_CODES[exit]
  }

  override logJson(json: unknown): void {
    process.stdout.write(`${JSON.stringify(json, null, 2)}\n`)
  }

  /**
   * With `--json`, also prints failures as an object on stdout. The line on stderr and the exit status are
   * the same.
   */
  protected override async catch(error: Error): Promise<never> {
    if (this.jsonEnabled()) {
      const exit = error instanceof Failure ? error.exit : 'oclif' in error ? 'input' : 'bug'
      const message = error instanceof Errors.CLIError ? await this.#usage(error) : error.message
      this.logJson({
        error: {
          message: terminalLine(message, 1_000),
          exit: EXIT_CODES[exit],
          ...(error instanceof Failure && error.facts),
        },
        ...this.beside,
      })
    }
    throw error
  }

  /** Returns the line for stderr. */
  async #usage(error: Errors.CLIError): Promise<string> {
    const { usageMessage } = await import('../help/usage-message.js')
    return usageMessage(this.config.bin === 'idp' ? 'idp' : 'ashlar', error)
  }
}
