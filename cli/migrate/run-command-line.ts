import type { CommandLine } from '../../lib/migrations/index.js'
import { flagsOf } from '../../lib/text/command-line.js'

/**
 * Flags that the next command needs as well. The connection string is not among them: it may hold a password.
 */
export interface KeptFlags {
  readonly files?: string | undefined
  readonly module?: string | undefined
  readonly schema?: string | undefined
}

const DEFAULT_FOLDER = 'migrations'
/** Commands without a database. */
const ON_FILES = ['migrate lint', 'migrate renumber']

/**
 * Writes a command of `migrate` with the flags of the run that prints it. One that names a schema keeps that.
 */
export const runCommandLine =
  ({ files = DEFAULT_FOLDER, module, schema }: KeptFlags): CommandLine =>
  (command, options = {}, ...args) => {
    const isOfMigrate = command.startsWith('migrate ')
    const isElsewhere = ON_FILES.includes(command) || options.schema !== undefined
    const kept = {
      ...(files !== DEFAULT_FOLDER && { files }),
      ...(module !== undefined && !isElsewhere && { module }),
      ...(schema !== undefined && !isElsewhere && { schema }),
    }
    return ['ashlar', command, ...(isOfMigrate ? flagsOf(kept) : []), ...args, ...flagsOf(options)].join(' ')
  }
