import { createInterface } from 'node:readline/promises'
import { Failure } from '../errors/failure.js'

/** Whether somebody sits at a terminal who can be asked. */
export const canAsk = (): boolean => process.stdin.isTTY && process.stderr.isTTY

/**
 * Asks the person at the terminal for one of the options. An empty line, and the end of the input, mean the first one.
 * @throws {Failure} on Ctrl-C.
 */
export async function chosen<T extends string>(question: string, options: readonly [T, ...T[]]): Promise<T> {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  const ended = new Promise<string>((resolve, reject) => {
    lines.once('SIGINT', () => reject(new Failure('interrupted', 'nothing was written')))
    lines.once('close', () => resolve(''))
  })
  try {
    for (;;) {
      const said = (
        await Promise.race([lines.question(`${question} (${options.join(', ')}) [${options[0]}] `), ended])
      ).trim()
      const option = options.find((one) => one === (said === '' ? options[0] : said))
      if (option !== undefined) return option
    }
  } finally {
    lines.close()
  }
}
