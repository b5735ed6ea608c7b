import { EXIT_CODES } from '../errors/exit-codes.js'
import { pathFlag } from '../loading/path-flag.js'
import { Verb } from '../verb/verb.js'

export default class Dev extends Verb {
  static override summary = 'Compile and start the service, and restart it after each change.'
  static override description = `Run the command in the project's folder. It generates code when a .proto changes (buf generate), compiles with the project's own tsc --watch, and restarts the service with NODE_ENV=development. First it prints what ashlar check lists. It also prints each change, and each error with its line. Until the errors are fixed, the last working build keeps running. A SQLite file keeps its data, and new columns are added to its tables.

The service is a separate process. It reports its address with process.send('ready <HTTP address>'), and has 1.5 seconds to exit after SIGTERM. You can try requests at /docs.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --entry dist/main.js',
  ]
  static override flags = {
    entry: pathFlag({ summary: 'The compiled module that starts the service.', default: 'dist/src/main.js' }),
  }
  static override enableJsonFlag = false

  override async run(): Promise<void> {
    const { flags } = await this.parse(Dev)
    const { develop } = await import('../dev/develop.js')
    const stop = new AbortController()
    for (const [signal, exit] of [
      ['SIGINT', 'interrupted'],
      ['SIGTERM', 'terminated'],
    ] as const)
      process.once(signal, () => {
        process.exitCode = EXIT_CODES[exit]
        stop.abort()
      })
    // npm ends the shell between itself and this process, which receives no signal.
    const parent = process.ppid
    const orphaned = () => {
      if (process.ppid === parent) return
      process.exitCode = EXIT_CODES.terminated
      stop.abort()
    }
    const watch = process.env.npm_lifecycle_event === undefined ? undefined : setInterval(orphaned, 500)
    await develop({
      folder: process.cwd(),
      entry: flags.entry,
      say: (lines) => this.say(lines),
      paint: this.paint,
      signal: stop.signal,
    }).finally(() => clearInterval(watch))
  }
}
