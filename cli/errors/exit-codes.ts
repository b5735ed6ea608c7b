/** The exit status of commands. Scripts rely on the numbers, so their meaning never changes. */
export const EXIT_CODES = {
  done: 0,
  differs: 1,
  input: 2,
  daemon: 3,
  conflict: 4,
  output: 5,
  database: 6,
  bug: 70,
  interrupted: 130,
  terminated: 143,
} as const

export type Exit = keyof typeof EXIT_CODES

/** The meaning of each exit status, printed in the reference. */
export const EXIT_MEANINGS: Readonly<Record<Exit, string>> = {
  done: 'Done, or there was nothing to do.',
  differs:
    "The checked condition does not hold, or a question was not confirmed. Each command's help states its condition.",
  input:
    'A flag, a file, a folder or a route cannot be used, no app was found, or a question needs `--yes` because there is no terminal.',
  daemon: "The local HTTPS proxy's daemon is required but not running, or its response is invalid.",
  conflict: 'The daemon reports that another owner uses the host.',
  output: 'A file or stdout could not be written. The previous file is unchanged.',
  database:
    'A database cannot be reached, rejects the command or lacks something that the command requires, or a migration failed.',
  bug: 'An internal error. `ASHLAR_DEBUG=1` prints the stack.',
  interrupted:
    'Ctrl-C (SIGINT) ended the command. The `migrate` commands first cancel the statement that is running in the database.',
  terminated: 'SIGTERM ended the command in the same way.',
}
