import { Flags } from '@oclif/core'
import { cursorFlag, outboxFlags } from '../../outbox/outbox-flags.js'
import { Verb } from '../../verb/verb.js'

export default class Replay extends Verb {
  static override summary = 'Retry dead letters.'
  static override description = `The relay or consumer retries each of its dead letters once: within seconds if it is running, otherwise when it is started. An event that fails again stays a dead letter. A retried event is delivered after later events of its resource that were delivered in the meantime.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --cursor relay:nats',
    '<%= config.bin %> <%= command.id %> --cursor consumer:mail --id 7',
  ]
  static override flags = {
    ...outboxFlags,
    cursor: cursorFlag(true),
    id: Flags.integer({
      summary: 'The ID of one dead letter, as outbox dead-letters lists it. Default: all.',
      helpValue: '<id>',
      min: 1,
    }),
  }

  override async run(): Promise<{ readonly replayed: number; readonly isRunning: boolean }> {
    const { flags } = await this.parse(Replay)
    const [{ withDataSource }, { Outbox }, { cursorIn }, { replayedLines }, { Failure }] = await Promise.all([
      import('../../outbox/with-outbox.js'),
      import('../../../lib/events/index.js'),
      import('../../outbox/cursor-in.js'),
      import('../../outbox/dead-letter-lines.js'),
      import('../../errors/failure.js'),
    ])
    const { cursor = '', id } = flags
    const { isRunning, replayed } = await withDataSource(flags, async (dataSource) => {
      const outbox = new Outbox(dataSource)
      const { isRunning } = cursorIn(await outbox.status(), cursor)
      return { isRunning, replayed: await outbox.replay(cursor, id) }
    })
    if (replayed === 0 && id !== undefined) throw new Failure('input', `${cursor} has no dead letter ${id}`)
    this.say(replayedLines(replayed, cursor, isRunning, flags))
    return { replayed, isRunning }
  }
}
