import { terminalQuestions } from './terminal-questions.js'

/** Returns true if a user can answer questions at a terminal. */
export const canAsk = (): boolean => process.stdin.isTTY && process.stderr.isTTY

/**
 * Prompts the user for one of the options. An empty line and the end of the input select the first one.
 * @throws {Failure} on Ctrl-C.
 */
export async function chosen<T extends string>(question: string, options: readonly [T, ...T[]]): Promise<T> {
  const questions = terminalQuestions('nothing was written')
  try {
    for (;;) {
      const said = await questions.ask(`${question} (${options.join(', ')}) [${options[0]}] `)
      const option = options.find((one) => one === (said === '' ? options[0] : said))
      if (option !== undefined) return option
    }
  } finally {
    questions.close()
  }
}
