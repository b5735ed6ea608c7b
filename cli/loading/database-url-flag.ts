import { Flags } from '@oclif/core'

const url = {
  summary:
    'The database: postgres://…, mysql://… or fsnotify://<driver>/<path of a file that contains the URL>.',
  description: 'Prefer ASHLAR_DATABASE_URL, because every user of a machine can read command lines.',
  helpValue: '<url>',
  env: 'ASHLAR_DATABASE_URL',
}

/** The flag of a command that requires a database. */
export const databaseUrlFlag = Flags.string({ ...url, required: true })

/** The flag of a command that can use a database. */
export const optionalUrlFlag = Flags.string(url)
