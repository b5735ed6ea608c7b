import type { Progress } from '../../lib/migrations/index.js'
import { paintFor } from '../paint.js'
import { Verb } from '../verb.js'

/** A command that changes a database, and says on stderr how it goes on. */
export abstract class MigratingVerb extends Verb {
  protected async progress(): Promise<(event: Progress) => void> {
    const { progressLines } = await import('./progress-lines.js')
    const lines = progressLines(paintFor(process.stderr))
    return (event) => {
      for (const line of lines(event)) process.stderr.write(`${line}\n`)
    }
  }
}
