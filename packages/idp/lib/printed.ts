/**
 * The text without characters that control a terminal, on one line. Names in files and in responses are not
 * the user's own.
 */
export const oneLine = (text: string): string => text.replaceAll(/\p{C}/gu, '?')

/** Prints lines for the person who runs the program. */
export const printed = (text: string): void =>
  void process.stderr.write(`${text.split('\n').map(oneLine).join('\n')}\n`)
