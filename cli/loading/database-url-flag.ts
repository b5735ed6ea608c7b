import { Flags } from '@oclif/core'

/** The database of a command that connects to one. */
export const databaseUrlFlag = Flags.string({
  summary: 'The database: postgres://…, mysql://… or fsnotify://<driver>/<path of a file that holds one>.',
  description: 'Prefer ASHLAR_DATABASE_URL, because every user of a machine can read command lines.',
  helpValue: '<url>',
  env: 'ASHLAR_DATABASE_URL',
  required: true,
})
