import { Flags } from '@oclif/core'
import type { OutboxStatus } from '../../../lib/events/index.js'
import { outboxFlags } from '../../outbox/outbox-flags.js'
import { Verb } from '../../verb/verb.js'

export default class Status extends Verb {
  static override summary = 'Show the positions of relays and consumers.'
  static override description = `The first line reports the number of events so far, and how many wait because no relay or consumer follows the outbox. Each further line describes a relay or consumer: its position in the log, its lag in events (including events without a sequence number yet), its dead letters, and whether it is running. An event stays in the outbox until all of them have processed it.

For a consumer of a NATS stream (stream:<name>), the line contains the position and dead letters. The lag is in NATS: see the worker's status() and the metric ashlar.events.lag.

With --max-lag, for monitoring, the exit status is 1 if a lag is larger, if there are dead letters, or if no relay or consumer follows an outbox that has more events; a line gives the reason.`
  static override differs =
    'With --max-lag: a relay or consumer lags too far behind, none follows the outbox, or there are dead letters.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --max-lag 1000',
  ]
  static override flags = {
    ...outboxFlags,
    'max-lag': Flags.integer({
      summary:
        'Exit with 1 if a relay or consumer (or an outbox without any) has more unprocessed events, or if there are dead letters. The lag of stream:<name> is not counted.',
      helpValue: '<events>',
      min: 0,
    }),
  }

  override async run(): Promise<OutboxStatus & { readonly reasons?: readonly string[] }> {
    const { flags } = await this.parse(Status)
    const [{ withDataSource }, { Outbox }, { reasonsOf, statusLines }] = await Promise.all([
      import('../../outbox/with-outbox.js'),
      import('../../../lib/events/index.js'),
      import('../../outbox/status-lines.js'),
    ])
    const status = await withDataSource(flags, (dataSource) => new Outbox(dataSource).status())
    this.say(statusLines(status, this.paint, flags))
    const most = flags['max-lag']
    if (most === undefined) return status
    const reasons = reasonsOf(status, most)
    this.say(reasons.map((reason) => `Exit status 1: ${reason}`))
    if (reasons.length > 0) this.endWith('differs')
    return { ...status, reasons }
  }
}
