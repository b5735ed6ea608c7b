import { Flags } from '@oclif/core'
import { pathFlag } from '../../loading/path-flag.js'
import { databaseFlags, timeoutFlags } from '../../migrate/database-flags.js'
import type { OnDatabase } from '../../migrate/database-run.js'
import type { Rollout } from '../../migrate/rollout/rollout.js'
import { Verb } from '../../verb/verb.js'

export default class TryRollout extends Verb {
  static override summary =
    'Deploy the missing migrations and a new image to a copy under load, and count failed calls.'
  static override description = `The command changes the database of --url: pass the URL of a copy. It starts the old image, applies the missing migrations while that image runs, and starts the new image. It then sends calls to both images, ends the old image with SIGTERM once its calls are done, and continues with the new image alone. Calls are made continuously by the default export of the --load module: export default async (url, { image, worker }) => { … }. This function makes one or more calls, and rejects if a call fails.

An image is a shell command line. The image must listen on the port in PORT, which also replaces {port} in the command line, use the database of ASHLAR_DATABASE_URL, and respond with 200 at the path of --ready when it is ready.

The command exits with 1 if a call failed. It asks first; without a terminal it needs --yes.`
  static override differs = 'A call failed, an image exited by itself, or the question was not confirmed.'
  static override examples = [
    `<%= config.bin %> <%= command.id %> --url postgres://localhost/copy --old 'node old/main.js' --new 'node dist/main.js' --load dist/load.js --yes`,
    `<%= config.bin %> <%= command.id %> --url postgres://localhost/copy --old 'docker run --rm --network host -e PORT -e ASHLAR_DATABASE_URL shop:1' --new 'docker run --rm --network host -e PORT -e ASHLAR_DATABASE_URL shop:2' --load dist/load.js`,
  ]
  static override flags = {
    old: Flags.string({
      summary: 'The command of the image that runs today.',
      helpValue: '<command>',
      required: true,
    }),
    new: Flags.string({
      summary: 'The command of the image to deploy.',
      helpValue: '<command>',
      required: true,
    }),
    load: pathFlag({ summary: 'The compiled module whose default export makes a call.', required: true }),
    ready: Flags.string({
      summary: 'The path that reports whether an image is ready.',
      helpValue: '<path>',
      default: '/readyz',
    }),
    seconds: Flags.integer({
      summary: 'The number of seconds for which the old image, both images, and the new image run.',
      helpValue: '<s>',
      min: 1,
      default: 3,
    }),
    workers: Flags.integer({
      summary: 'The number of concurrent calls.',
      helpValue: '<n>',
      min: 1,
      max: 1_000,
      default: 4,
    }),
    yes: Flags.boolean({ summary: 'Confirm that the database is a copy.' }),
    ...databaseFlags,
    ...timeoutFlags,
  }

  override async run(): Promise<Rollout & OnDatabase> {
    const { flags } = await this.parse(TryRollout)
    const [
      { connectionString },
      { DatabaseRun },
      { copyText },
      { appliesText },
      { callOf, tryRollout },
      view,
    ] = await Promise.all([
      import('../../migrate/connection-string.js'),
      import('../../migrate/database-run.js'),
      import('../../migrate/headings.js'),
      import('../../migrate/lines/missing-versions.js'),
      import('../../migrate/rollout/rollout.js'),
      import('../../migrate/views/try-rollout-view.js'),
    ])
    const call = await callOf(flags.load)
    const databaseUrl = await connectionString(flags.url)
    const run = new DatabaseRun(this, flags, { heading: copyText })
    await run.noteEmpty()
    if (!flags.yes) {
      const applies = appliesText(await run.change((migrator) => migrator.status()))
      await run.confirm(view.rolloutQuestion(applies), 'nothing is applied')
    }
    const onPhase = (phase: Rollout['phases'][number]) => this.say(view.phaseLines(phase, run.style))
    const rollout = await run.change((migrator) =>
      tryRollout(migrator, call, { ...flags, databaseUrl, onPhase }),
    )
    this.say(view.rolloutLines(rollout, run.style))
    if (rollout.failures.length > 0) this.endWith('differs')
    return run.onDatabase(rollout)
  }
}
