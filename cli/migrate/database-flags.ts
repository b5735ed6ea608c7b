import { Errors, Flags } from '@oclif/core'
import { databaseUrlFlag } from '../loading/database-url-flag.js'
import { pathFlag } from '../loading/path-flag.js'
import { projectOption } from '../loading/project-option.js'

const files = {
  summary: "The migration files' folder.",
  description:
    "It contains either the files themselves, or the folders postgres and mysql with each engine's files.",
  default: () => Promise.resolve(projectOption('files') ?? 'migrations'),
}

export const filesFlag = pathFlag(files)

/** The flag for the folder of new files. `--dir` is an alias. */
export const folderFlag = pathFlag({ ...files, aliases: ['dir'] })

/** The flags of every command that connects to a database. */
export const databaseFlags = {
  url: databaseUrlFlag,
  files: filesFlag,
  module: Flags.string({
    summary: "The module's name; its schema on PostgreSQL has the same name.",
    helpValue: '<name>',
    default: () => Promise.resolve(projectOption('module')),
  }),
  schema: Flags.string({
    summary: "The module's schema on PostgreSQL, if its name differs from the module's.",
    helpValue: '<name>',
  }),
}

const milliseconds = (summary: string) => Flags.integer({ summary, helpValue: '<ms>', min: 1 })

/** The flags of commands that change a database. The migration runner determines the defaults. */
export const timeoutFlags = {
  'lock-timeout': milliseconds('How long a statement waits for table locks. Default: 2000.'),
  'statement-timeout': milliseconds('How long a statement may run. Default: 60000.'),
  'concurrent-timeout': milliseconds(
    'How long CREATE INDEX CONCURRENTLY and similar statements may run. Default: 900000.',
  ),
  'wait-timeout': milliseconds('How long to wait for another host that is migrating. Default: 3600000.'),
}

/** The flag of commands that compare in a separate database. */
export const scratchFlag = Flags.string({
  summary: 'An empty database for the comparison. The command empties it afterwards.',
  helpValue: '<url>',
  env: 'ASHLAR_SCRATCH_URL',
})

const HIGHEST_VERSION = 9_999

/** Returns the options of a flag that accepts a migration's number. */
export const versionOptions = (summary: string, min = 1) => ({
  summary,
  helpValue: '<version>',
  min,
  max: HIGHEST_VERSION,
  parse: (given: string, _: unknown, { name }: { readonly name: string }): Promise<number> => {
    const version = /^\d+$/.test(given) ? Number(given) : NaN
    return version >= min && version <= HIGHEST_VERSION
      ? Promise.resolve(version)
      : Promise.reject(new Errors.CLIError(noVersionText(name, given, min)))
  },
})

const noVersionText = (flag: string, given: string, min: number): string =>
  `--${flag} takes a migration number from ${min} to ${HIGHEST_VERSION}, such as 12 for 0012_add_colour, not “${given}”: migrate status lists the migrations`
