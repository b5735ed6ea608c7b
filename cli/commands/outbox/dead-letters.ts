import { Flags } from '@oclif/core'
import type { DeadLetter } from '../../../lib/events/index.js'
import { cursorFlag, outboxFlags } from '../../outbox/outbox-flags.js'
import { Verb } from '../../verb/verb.js'

export default class DeadLetters extends Verb {
  static override summary = 'List the dead letters, with their errors.'
  static override description = `Lists the oldest first, each with the time and the error that made it a dead letter. The payload stays in the table outbox_dead_letter. Dead letters are not retried automatically: outbox replay retries them.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --cursor relay:nats --json',
  ]
  static override flags = {
    ...outboxFlags,
    cursor: cursorFlag(false),
    limit: Flags.integer({
      summary: 'The maximum number of dead letters.',
      helpValue: '<count>',
      min: 1,
      max: 10_000,
      default: 100,
    }),
  }

  override async run(): Promise<readonly DeadLetter[]> {
    const { flags } = await this.parse(DeadLetters)
    const [{ withDataSource }, { Outbox }, { cursorIn }, { deadLetterLines }] = await Promise.all([
      import('../../outbox/with-outbox.js'),
      import('../../../lib/events/index.js'),
      import('../../outbox/cursor-in.js'),
      import('../../outbox/dead-letter-lines.js'),
    ])
    const { cursor, limit } = flags
    const letters = await withDataSource(flags, async (dataSource) => {
      const outbox = new Outbox(dataSource)
      if (cursor === undefined) return outbox.deadLetters({ limit })
      cursorIn(await outbox.status(), cursor)
      return outbox.deadLetters({ limit, cursor })
    })
    this.say(deadLetterLines(letters, limit, flags))
    return letters
  }
}
