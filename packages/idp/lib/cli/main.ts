import { Failure } from '../idp-failure.js'
import { oneLine } from '../printed.js'
import { COMMANDS } from './commands.js'
import { usageOf } from './usage.js'

/** Runs a command of `ashlar-idp`, and sets the exit status. */
export async function main(args: readonly string[]): Promise<void> {
  try {
    const [first = '', second = ''] = args
    if (first === '' || first === 'help' || first === '--help' || first === '-h')
      return console.log(usageOf(COMMANDS))
    const command =
      COMMANDS.find(({ name }) => name === `${first} ${second}`) ??
      COMMANDS.find(({ name }) => name === first)
    if (command === undefined) throw new Failure(`unknown command "${first}": see ashlar-idp --help`)
    await command.run(args.slice(command.name.split(' ').length))
  } catch (error) {
    const isOwn =
      error instanceof Failure || (error as NodeJS.ErrnoException).code?.startsWith('ERR_PARSE_ARGS')
    console.error(isOwn ? oneLine(`ashlar-idp: ${(error as Error).message}`) : error)
    process.exitCode = error instanceof Failure ? error.exitCode : 2
  }
}
