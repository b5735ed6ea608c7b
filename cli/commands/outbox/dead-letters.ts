import { Flags } from '@oclif/core'
import type { DeadLetter } from '../../../lib/events/index.js'
import { cursorFlag, outboxFlags } from '../../outbox/outbox-flags.js'
import { Verb } from '../../verb/verb.js'

export default class DeadLetters extends Verb {
  static override summary = 'List the events that were given up, with the reason.'
  static override description = `The oldest first, each with when it was given up and why. Their payload stays in the table outbox_dead_letter. None is tried again by itself: outbox replay has them tried again.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --cursor relay:nats --json',
  ]
  static override flags = {
    ...outboxFlags,
    cursor: cursorFlag(false),
    limit: Flags.integer({
      summary: 'How many at most.',
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
