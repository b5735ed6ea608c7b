import { createInterface } from 'node:readline/promises'
import { Failure } from '../errors/failure.js'

/** Questions to the person at the terminal. */
export interface TerminalQuestions {
  /** The typed text; empty at the end of the input. @throws {Failure} on Ctrl-C. */
  readonly ask: (question: string) => Promise<string>
  readonly close: () => void
}

/** @param nothing - what a failure says on Ctrl-C, such as `nothing is changed`. */
export function terminalQuestions(nothing: string): TerminalQuestions {
  const { stdin: input, stderr: output } = process
  const lines = createInterface({ input, output })
  let isAsking = true
  // After Ctrl-C, what is printed next would stand behind the question.
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
