import { terminalQuestions } from './terminal-questions.js'

/** True if a user at a terminal can be asked. */
export const canAsk = (): boolean => process.stdin.isTTY && process.stderr.isTTY

/**
 * Asks the person at the terminal for one of the options. An empty line, and the end of the input, mean the
 * first one.
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
