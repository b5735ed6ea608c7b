import { Flags } from '@oclif/core'
import { databaseUrlFlag } from '../loading/database-url-flag.js'

/** The flags of every command that reads an outbox. */
export const outboxFlags = {
  url: databaseUrlFlag,
  schema: Flags.string({
    summary: "The outbox's schema, on PostgreSQL only. Default: the user's search path, usually public.",
    helpValue: '<name>',
  }),
}

export const cursorFlag = (required: boolean) =>
  Flags.string({
    summary:
      'The relay or consumer: relay:nats, consumer:<name> or stream:<name>, as outbox status lists them.',
    helpValue: '<name>',
    required,
  })
