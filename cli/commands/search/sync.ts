import { Flags } from '@oclif/core'
import { pathFlag } from '../../loading/path-flag.js'
import type { FileChanges } from '../../search/file-changes.js'
import { Verb } from '../../verb/verb.js'

export default class Sync extends Verb {
  static override summary = 'Copy generated search migrations into the migrations folder.'
  static override description = `Copies the files that search generate wrote, byte for byte. A file of the same name with other content is not overwritten, because it may have been applied. A number that another migration uses is rejected. In both cases, run search generate again with that folder as --migrations. It then uses the next free numbers.`
  static override differs =
    '--check: a file is missing or differs. Otherwise: a file with other content exists, or another migration has the same number.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> --from generated --to migrations/postgres',
    '<%= config.bin %> <%= command.id %> --from generated --to migrations/postgres --check',
  ]
  static override flags = {
    from: pathFlag({ summary: 'The folder that search generate wrote.', required: true }),
    to: pathFlag({ summary: 'The folder to copy to; it is created if it does not exist.', required: true }),
    check: Flags.boolean({ summary: 'Write nothing; exit with 1 if a file is missing or differs.' }),
  }

  override async run(): Promise<FileChanges> {
    const { flags } = await this.parse(Sync)
    const [{ syncSearch }, { syncedLines }, { differs }] = await Promise.all([
      import('../../search/sync-search.js'),
      import('../../search/change-lines.js'),
      import('../../search/file-changes.js'),
    ])
    const { from, to, check } = flags
    const changes = syncSearch({ from, to, check })
    this.say(syncedLines(changes, { from, to, check }, this.paint))
    if (check && differs(changes)) this.endWith('differs')
    return changes
  }
}
