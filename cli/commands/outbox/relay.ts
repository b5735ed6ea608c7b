import { Flags } from '@oclif/core'
import { outboxFlags } from '../../outbox/outbox-flags.js'
import { Verb } from '../../verb/verb.js'

export default class Relay extends Verb {
  static override summary = 'Deliver the events of an outbox to NATS JetStream until stopped.'
  static override description = `Any number of relays can run: one is active, and the others stand by. After SIGINT or SIGTERM, a relay finishes the current batch and exits; a second signal ends it immediately. Requires the @nats-io/jetstream and @nats-io/transport-node packages.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --nats nats://127.0.0.1:4222',
    '<%= config.bin %> <%= command.id %> --nats nats://a:4222,nats://b:4222 --replicas 3 --prefix shop --stream SHOP',
  ]
  static override flags = {
    ...outboxFlags,
    nats: Flags.string({
      summary: 'The servers, separated by commas; nats://user:password@host or nats://token@host logs in.',
      helpValue: '<urls>',
      env: 'ASHLAR_NATS_URL',
      required: true,
    }),
    stream: Flags.string({ summary: "The stream's name. Default: EVENTS.", helpValue: '<name>' }),
    prefix: Flags.string({
      summary: 'The first part of each subject. Default: events.',
      helpValue: '<prefix>',
    }),
    replicas: Flags.integer({
      summary: 'The number of servers that store the stream, if the relay creates it. Default: 1.',
      helpValue: '<count>',
      min: 1,
      max: 5,
    }),
    'listen-url': Flags.string({
      summary:
        'A PostgreSQL session for LISTEN, not through a transaction pooler. Default: the outbox is polled.',
      helpValue: '<url>',
      env: 'ASHLAR_LISTEN_URL',
    }),
    'max-attempts': Flags.integer({
      summary: 'The number of attempts before an event becomes a dead letter. Default: 10.',
      helpValue: '<count>',
      min: 1,
    }),
    lease: Flags.integer({
      summary: 'How long a dead relay blocks others from taking over. Default: 15000.',
      helpValue: '<ms>',
      min: 100,
    }),
  }

  override async run(): Promise<void> {
    const { flags } = await this.parse(Relay)
    const [{ withDataSource }, { relayUntilEnd }] = await Promise.all([
      import('../../outbox/with-outbox.js'),
      import('../../outbox/relay-until-end.js'),
    ])
    await withDataSource(flags, (dataSource) => relayUntilEnd(dataSource, flags))
  }
}
