import { Flags } from '@oclif/core'

const url = {
  summary:
    'The database: postgres://…, mysql://… or fsnotify://<driver>/<path of a file that contains the URL>.',
  description: 'Prefer ASHLAR_DATABASE_URL, because every user of a machine can read command lines.',
  helpValue: '<url>',
  env: 'ASHLAR_DATABASE_URL',
}

/** The database of a command that connects to one. */
export const databaseUrlFlag = Flags.string({ ...url, required: true })

/** The database of a command that does more where it may connect to one. */
export const optionalUrlFlag = Flags.string(url)
