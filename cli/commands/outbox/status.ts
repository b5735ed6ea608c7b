import { Flags } from '@oclif/core'
import type { OutboxStatus } from '../../../lib/events/index.js'
import { outboxFlags } from '../../outbox/outbox-flags.js'
import { Verb } from '../../verb/verb.js'

export default class Status extends Verb {
  static override summary = 'Show how far relays and consumers are.'
  static override description = `The first line says how many events there were, and how many wait where no relay or consumer follows the outbox. Then one line for each relay and consumer: its position in the log, how many events it has to do (also those that are not sequenced yet), its dead letters, and whether it runs. An event stays in the outbox until every one of them has done it.

A consumer of a stream of NATS, stream:<name>, has its position and dead letters here and what is to do in NATS: status() of the worker and the metric ashlar.events.lag tell how far it is.

With --max-lag, for monitoring, the exit status is 1 when one has more events to do, when there are dead letters, or when no relay or consumer follows an outbox that has more events; a line says why.`
  static override differs =
    'With --max-lag: a relay or consumer is too far behind, none follows, or there are dead letters.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --max-lag 1000',
  ]
  static override flags = {
    ...outboxFlags,
    'max-lag': Flags.integer({
      summary:
        'Exit with 1 when more events are to do, by one of them or because there is none, or when there are dead letters. Not counted: what stream:<name> has to do.',
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
