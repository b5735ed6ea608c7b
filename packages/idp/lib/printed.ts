/** Prints a line for the person who runs the program. */
export const printed = (text: string): void => void process.stderr.write(`${text}\n`)
