import type { CommandLine } from '../../lib/migrations/index.js'
import { flagsOf } from '../../lib/text/command-line.js'

/**
 * Flags that are repeated in suggested commands. The connection string is excluded, because it may contain a
 * password.
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
 * Returns a function that formats a `migrate` command with the flags of the current run. An explicit schema
 * is kept.
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
