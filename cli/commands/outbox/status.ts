import { Flags } from '@oclif/core'
import type { OutboxStatus } from '../../../lib/events/index.js'
import { outboxFlags } from '../../outbox/outbox-flags.js'
import { Verb } from '../../verb/verb.js'

export default class Status extends Verb {
  static override summary = 'Show how far relays and consumers are.'
  static override description = `One line for each cursor: its position in the log, how many events are behind it, and its dead letters. A consumer of a stream of NATS, stream:<name>, has its position and dead letters here and its backlog in NATS: status() of the worker and the metric ashlar.events.lag tell how far it is.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --most-lag 1000',
  ]
  static override flags = {
    ...outboxFlags,
    'most-lag': Flags.integer({
      summary:
        'Exit with 1 when a cursor has more events of the outbox to do, or there are dead letters. Not the backlog of stream:<name>.',
      helpValue: '<events>',
      min: 0,
    }),
  }

  override async run(): Promise<OutboxStatus> {
    const { flags } = await this.parse(Status)
    const [{ withDataSource }, { Outbox }, { statusLines }] = await Promise.all([
      import('../../outbox/with-outbox.js'),
      import('../../../lib/events/index.js'),
      import('../../outbox/status-lines.js'),
    ])
    const status = await withDataSource(flags, (dataSource) => new Outbox(dataSource).status())
    this.say(statusLines(status, this.paint))
    const most = flags['most-lag']
    const isBehind = status.cursors.some(
      ({ lag, deadLetters }) =>
        (lag !== undefined && lag + status.unsequenced > (most ?? 0)) || deadLetters > 0,
    )
    if (most !== undefined && isBehind) this.endWith('differs')
    return status
  }
}
