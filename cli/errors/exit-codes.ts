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

/** The sentence that the reference prints beside each number. */
export const EXIT_MEANINGS: Readonly<Record<Exit, string>> = {
  done: 'Done, or nothing was left to do.',
  differs: 'What was asked for is not so, or a question was not confirmed: each command says it below.',
  input:
    'A flag, a file or folder that was read, or a route cannot be used, or no app was found; a question needs `--yes`, because it runs without a terminal.',
  daemon: 'The daemon is needed and not running, or its response is invalid.',
  conflict: 'The daemon holds the host for another owner.',
  output: 'A file or stdout could not be written. The previous file is unchanged.',
  database:
    'A database cannot be reached or refuses, does not have what the command is about, or a migration failed in it.',
  bug: 'A mistake of the program itself. `ASHLAR_DEBUG=1` shows where.',
  interrupted:
    'Ctrl-C (SIGINT) ended it. The `migrate` commands cancel the statement that runs in the database first.',
  terminated: 'SIGTERM ended it, likewise.',
}
