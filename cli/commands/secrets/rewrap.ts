import { Flags } from '@oclif/core'
import { databaseUrlFlag } from '../../loading/database-url-flag.js'
import { requiredEntitiesFlag } from '../../loading/entities.js'
import { pathFlag } from '../../loading/path-flag.js'
import type { RewrappedResource } from '../../secrets/rewrap-resources.js'
import { Verb } from '../../verb/verb.js'

interface Rewrapped {
  readonly resources: readonly RewrappedResource[]
  /** The position for --after; null if every row was processed. */
  readonly after: string | null
}

export default class Rewrap extends Verb {
  static override summary = 'Encrypt stored secrets with the newest key, and say which versions are left.'
  static override description = `For after a rotation of the key: goes through the rows of all tenants, deleted ones too, page by page, while the service runs. A secret that is written meanwhile stays as it was written. Neither update_time nor etag of a resource changes, and no event is sent.

SIGINT or SIGTERM ends it after the page that it is at, and it says how to go on. When no secret is left on an old version, raise min_decryption_version of the key.`
  static override differs = 'A secret cannot be read, or it was ended before every row was looked at.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> --entities dist/entities.js --encryptor dist/encryptor.js',
    '<%= config.bin %> <%= command.id %> --entities dist/entities.js --encryptor dist/encryptor.js --count',
  ]
  static override flags = {
    url: databaseUrlFlag,
    schema: Flags.string({ summary: 'The schema of the tables, on PostgreSQL only.', helpValue: '<name>' }),
    entities: requiredEntitiesFlag,
    encryptor: pathFlag({
      summary:
        'The compiled module that exports the encryptor of the service as `encryptor`, or a function that makes it.',
      required: true,
    }),
    batch: Flags.integer({ summary: 'Rows of a page.', min: 1, max: 1000, default: 200 }),
    after: Flags.string({
      summary: 'Goes on where an earlier run has ended, as that run has said.',
      helpValue: '<place>',
    }),
    count: Flags.boolean({
      summary: 'Changes nothing, and says how many secrets each version of the key has.',
    }),
  }

  override async run(): Promise<Rewrapped> {
    const { flags } = await this.parse(Rewrap)
    const [{ rewrap }, { rewrapLines, progressLine }] = await Promise.all([
      import('../../secrets/rewrap-resources.js'),
      import('../../secrets/rewrap-lines.js'),
    ])
    const ending = new AbortController()
    const end = () => ending.abort()
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, end)
    try {
      const { resources, after } = await rewrap(flags, ending.signal, (type, progress) =>
        process.stderr.write(`${progressLine(type, progress)}\n`),
      )
      this.say(rewrapLines(resources, after, flags, this.paint))
      if (after !== undefined || resources.some(({ unreadable }) => unreadable > 0)) this.endWith('differs')
      return { resources, after: after ?? null }
    } finally {
      for (const name of ['SIGINT', 'SIGTERM'] as const) process.off(name, end)
    }
  }
}
