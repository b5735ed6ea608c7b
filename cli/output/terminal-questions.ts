import { createInterface } from 'node:readline/promises'
import { Failure } from '../errors/failure.js'

/** Prompts the user at the terminal. */
export interface TerminalQuestions {
  /**
   * Returns the typed text; empty at the end of the input.
   * @throws {Failure} on Ctrl-C.
   */
  readonly ask: (question: string) => Promise<string>
  readonly close: () => void
}

/** @param nothing - the end of the failure on Ctrl-C, such as `nothing is changed`. */
export function terminalQuestions(nothing: string): TerminalQuestions {
  const { stdin: input, stderr: output } = process
  const lines = createInterface({ input, output })
  let isAsking = true
  // After Ctrl-C, the next output would follow the question on the same line.
  const endLine = () => {
    if (isAsking) output.write('\n')
    isAsking = false
  }
  const ended = new Promise<string>((resolve, reject) => {
    lines.once('SIGINT', () => {
      endLine()
      reject(new Failure('interrupted', nothing))
    })
    lines.once('close', () => {
      endLine()
      resolve('')
    })
  })
  return {
    ask: async (question) => (await Promise.race([lines.question(question), ended])).trim(),
    close: () => {
      isAsking = false
      lines.close()
    },
  }
}
