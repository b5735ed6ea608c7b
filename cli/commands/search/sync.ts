import { Flags } from '@oclif/core'
import { pathFlag } from '../../loading/path-flag.js'
import type { FileChanges } from '../../search/file-changes.js'
import { Verb } from '../../verb/verb.js'

export default class Sync extends Verb {
  static override summary = 'Copy generated search migrations to the folder of the applied files.'
  static override description = `Copies the files that search generate wrote, byte for byte, and nothing else. Refuses where a file of that name has another text, because it may have been applied, and where another version has the same number: generate again with that folder as --migrations, which takes the next free numbers.`
  static override differs =
    '--check, and a file is missing or differs; a file with another text is there; or another version has the number of one.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> --from generated --to migrations/postgres',
    '<%= config.bin %> <%= command.id %> --from generated --to migrations/postgres --check',
  ]
  static override flags = {
    from: pathFlag({ summary: 'The folder that search generate wrote.', required: true }),
    to: pathFlag({ summary: 'The folder to copy to; it is created when it does not exist.', required: true }),
    check: Flags.boolean({ summary: 'Write nothing; exit with 1 when a file is missing or differs.' }),
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
