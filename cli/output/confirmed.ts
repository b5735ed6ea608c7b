import { Failure } from '../errors/failure.js'
import { terminalQuestions } from './terminal-questions.js'

/** The end of a question. */
export const TYPE_YES = 'Type yes to continue: '

/**
 * Returns true if the user types `yes`. Any other input, and the end of the input, means no.
 * @throws {Failure} without a terminal, or on Ctrl-C.
 */
export async function confirmed(question: string): Promise<boolean> {
  const { stdin: input, stderr: output } = process
  if (!input.isTTY || !output.isTTY)
    throw new Failure(
      'input',
      `nothing is changed: this command asks for confirmation, which needs a terminal; --yes confirms it. ${question}`,
    )
  const questions = terminalQuestions('nothing is changed')
  try {
    const answer = await questions.ask(`${question} ${TYPE_YES}`)
    if (/^y(es)?$/i.test(answer) && answer !== 'yes')
      output.write(`${answer} counts as no: only yes, in full and in lower case, continues\n`)
    return answer === 'yes'
  } finally {
    questions.close()
  }
}
