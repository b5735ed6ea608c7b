import { Flags } from '@oclif/core'
import { cursorFlag, outboxFlags } from '../../outbox/outbox-flags.js'
import { Verb } from '../../verb/verb.js'

export default class Forget extends Verb {
  static override summary = 'Forget a relay or a consumer that you no longer run.'
  static override description = `Removes the position, the dead letters and the record of processed events. Until then, the outbox retains every event that the relay or consumer has not processed. A running relay or consumer is rejected. If a relay or consumer with the same name is started again, it begins with the oldest event in the outbox (stream:<name>: with the oldest event of its stream) and processes these events again.

Without a terminal it needs --yes.`
  static override differs = 'The question was not confirmed: nothing is forgotten.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> --cursor relay:old',
    '<%= config.bin %> <%= command.id %> --cursor consumer:mail --yes',
  ]
  static override flags = {
    yes: Flags.boolean({ summary: 'Confirm without a question.' }),
    ...outboxFlags,
    cursor: cursorFlag(true),
  }

  override async run(): Promise<{ readonly forgotten: string }> {
    const { flags } = await this.parse(Forget)
    const [{ withDataSource }, { Outbox }, { forgettable }, { confirmed }, { Failure }] = await Promise.all([
      import('../../outbox/with-outbox.js'),
      import('../../../lib/events/index.js'),
      import('../../outbox/forgettable.js'),
      import('../../output/confirmed.js'),
      import('../../errors/failure.js'),
    ])
    const { cursor = '', yes } = flags
    const done = await withDataSource(flags, async (dataSource) => {
      const outbox = new Outbox(dataSource)
      const { question, done } = forgettable(await outbox.status(), cursor)
      if (!yes && !(await confirmed(question))) throw new Failure('differs', 'nothing is forgotten')
      await outbox.forget(cursor)
      return done
    })
    this.say([done])
    return { forgotten: cursor }
  }
}
