import { Flags } from '@oclif/core'
import { databaseUrlFlag } from '../loading/database-url-flag.js'

/** The flags of every command that looks at an outbox. */
export const outboxFlags = {
  url: databaseUrlFlag,
  schema: Flags.string({
    summary:
      'The schema of the outbox, on PostgreSQL only. Default: the search path of the user, mostly public.',
    helpValue: '<name>',
  }),
}

export const cursorFlag = (required: boolean) =>
  Flags.string({
    summary:
      'Which relay or consumer: relay:nats, consumer:<name> or stream:<name>, as outbox status names them.',
    helpValue: '<name>',
    required,
  })
