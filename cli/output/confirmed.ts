import { createInterface } from 'node:readline/promises'
import { Failure } from '../errors/failure.js'

/**
 * Whether the person at the terminal types `yes`. Anything else, and the end of the input, means no.
 * @throws {Failure} without a terminal, or on Ctrl-C.
 */
export async function confirmed(question: string): Promise<boolean> {
  const { stdin: input, stderr: output } = process
  if (!input.isTTY || !output.isTTY)
    throw new Failure(
      'input',
      `nothing is changed: this asks first, and there is no terminal to ask at; --yes confirms it. ${question}`,
    )
  const lines = createInterface({ input, output })
  const interrupted = new Promise<string>((resolve, reject) => {
    lines.once('SIGINT', () => reject(new Failure('interrupted', 'nothing is changed')))
    lines.once('close', () => resolve(''))
  })
  try {
    const answer = (
      await Promise.race([lines.question(`${question} Type yes to go on: `), interrupted])
    ).trim()
    if (/^y(es)?$/i.test(answer) && answer !== 'yes')
      output.write(`${answer} counts as no: only yes in full and in small letters goes on\n`)
    return answer === 'yes'
  } finally {
    lines.close()
  }
}
