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
  static override summary =
    'Encrypt stored secrets with the newest key, and report which key versions are still used.'
  static override description = `Run the command after the key was rotated. It processes the rows of all tenants, including deleted rows, page by page, while the service runs. A secret that is written in the meantime stays as written. A resource's update_time and etag do not change, and no event is sent.

SIGINT or SIGTERM ends the command after the current page, and the command prints how to continue. When no secret uses an old version, raise the key's min_decryption_version.`
  static override differs = 'A secret cannot be read, or the run ended before every row was processed.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> --entities dist/entities.js --encryptor dist/encryptor.js',
    '<%= config.bin %> <%= command.id %> --entities dist/entities.js --encryptor dist/encryptor.js --count',
  ]
  static override flags = {
    url: databaseUrlFlag,
    schema: Flags.string({ summary: "The tables' schema, on PostgreSQL only.", helpValue: '<name>' }),
    entities: requiredEntitiesFlag,
    encryptor: pathFlag({
      summary:
        "The compiled module that exports the service's encryptor as `encryptor`, or a function that returns it.",
      required: true,
    }),
    batch: Flags.integer({ summary: 'The number of rows per page.', min: 1, max: 1000, default: 200 }),
    after: Flags.string({
      summary: 'Continue after an earlier run, with the value that it printed.',
      helpValue: '<place>',
    }),
    count: Flags.boolean({
      summary: 'Change nothing; print how many secrets each key version has.',
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
