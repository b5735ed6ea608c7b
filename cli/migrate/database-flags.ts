import { Flags } from '@oclif/core'
import { pathFlag } from '../loading/path-flag.js'

const files = {
  summary: 'The folder of the files.',
  description:
    'Either the files themselves, or the folders postgres and mysql with the files of each engine.',
  default: 'migrations',
}

export const filesFlag = pathFlag(files)

/** Where files are written, `--dir` as well. */
export const folderFlag = pathFlag({ ...files, aliases: ['dir'] })

/** What every command that talks to a database takes. */
export const databaseFlags = {
  url: Flags.string({
    summary: 'The database: postgres://…, mysql://… or fsnotify://<driver>/<path of a file that holds one>.',
    description:
      'Better said by ASHLAR_DATABASE_URL, because every user of a machine can read command lines.',
    helpValue: '<url>',
    env: 'ASHLAR_DATABASE_URL',
    required: true,
  }),
  files: filesFlag,
  module: Flags.string({
    summary: 'The name of the module; its schema on PostgreSQL has the same name.',
    helpValue: '<name>',
  }),
  schema: Flags.string({
    summary: 'The schema of the module on PostgreSQL, when it has another name.',
    helpValue: '<name>',
  }),
}

const milliseconds = (summary: string) => Flags.integer({ summary, helpValue: '<ms>', min: 1 })

/** What the commands take that change a database. The defaults are the engine's. */
export const timeoutFlags = {
  'lock-timeout': milliseconds(
    'How long a statement waits for a lock of its tables; 2000 when it is not said.',
  ),
  'statement-timeout': milliseconds('How long a statement runs; 60000 when it is not said.'),
  'concurrent-timeout': milliseconds(
    'How long CREATE INDEX CONCURRENTLY and its like run; 900000 when it is not said.',
  ),
  'wait-timeout': milliseconds(
    'How long to wait for another host that migrates; 3600000 when it is not said.',
  ),
}
