/**
 * Returns the string on one line without characters that control a terminal, because names in files and
 * responses are not under the user's control.
 */
export const oneLine = (text: string): string => text.replaceAll(/\p{C}/gu, '?')

/** Prints lines for the user who runs the program. */
export const printed = (text: string): void =>
  void process.stderr.write(`${text.split('\n').map(oneLine).join('\n')}\n`)
