import './help/quick-start.js'
import { Errors, run, settings } from '@oclif/core'
import { EXIT_CODES } from './errors/exit-codes.js'
import { Failure } from './errors/failure.js'
import { foreignModuleLoaded } from './loading/foreign-module.js'
import { loadOptions, type Program } from './loading/load-options.js'
import { paintFor } from './output/paint.js'
import { terminalLine } from './output/terminal-line.js'
import { reasonOf } from './output/whole-file.js'

/** Runs the command line of this process. */
export async function main(program: Program): Promise<void> {
  // Without a listener, an error on a closed stderr would end the process.
  process.stderr.on('error', () => undefined)
  // Must run before oclif's listener, which throws the error.
  process.stdout.prependListener('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE')
      process.exit(print(program, `stdout cannot be written: ${reasonOf(error)}`, EXIT_CODES.output))
  })
  await runCommand(program, process.argv.slice(2))
  if (foreignModuleLoaded()) await endNow()
}

/**
 * Runs one command line. An error is printed to stderr, with one line for each problem, and becomes an exit
 * status.
 */
export async function runCommand(program: Program, argv: readonly string[]): Promise<void> {
  settings.enableAutoTranspile = false
  try {
    await run([...argv], loadOptions(program))
  } catch (error) {
    process.exitCode = await report(program, error)
  }
}

/** Ends the process after everything is printed, whatever the user's module has left open. */
async function endNow(): Promise<void> {
  await Promise.all(
    [process.stdout, process.stderr].map((stream) => new Promise((printed) => stream.write('', printed))),
  )
  process.exit()
}

async function report(program: Program, error: unknown): Promise<number> {
  if (error instanceof Errors.ExitError) return error.oclif.exit ?? EXIT_CODES.done
  if (error instanceof Failure) {
    const { head, lines } = error.listed ?? { head: error.message, lines: [] }
    return print(program, head, EXIT_CODES[error.exit], lines)
  }
  if (error instanceof Errors.CLIError) {
    const { usageMessage } = await import('./help/usage-message.js')
    return print(program, await usageMessage(program, error), EXIT_CODES.input)
  }
  const { stack, message } = error instanceof Error ? error : { stack: undefined, message: String(error) }
  if ((process.env.ASHLAR_DEBUG ?? '') !== '') process.stderr.write(`${stack ?? message}\n`)
  const advice = 'this is an internal error; please report it with what ASHLAR_DEBUG=1 prints'
  return print(program, `${message}: ${advice}`, EXIT_CODES.bug)
}

/** @param lines - the lines of several problems. */
function print(program: Program, message: string, exit: number, lines: readonly string[] = []): number {
  process.stderr.write(`${paintFor(process.stderr).bad(`${program}:`)} ${terminalLine(message, 1_000)}\n`)
  for (const line of lines) process.stderr.write(`  ${terminalLine(line, 2_000)}\n`)
  return exit
}
