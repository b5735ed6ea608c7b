/** Of what is recorded without a look at the tables. */
export const UNCOMPARED = 'then ashlar migrate verify --entities MODULE: nothing was compared with the tables'

/**
 * The last line of a command that another one follows: `Next: ashlar migrate plan`.
 * @param words - the command and its own flags, such as `['plan']`.
 * @param when - what has to be done before.
 */
export const nextLine = (words: readonly string[], when = ''): string =>
  `Next: ${['ashlar', 'migrate', ...words].join(' ')}${when === '' ? '' : `, ${when}`}`
