import { fileURLToPath } from 'node:url'
import { WidgetRepository } from '../../../examples/widgets/widget-repository.js'

/**
 * The example as a process, with a handler that never ends and keeps the process busy: for shutdown.test.ts.
 */
WidgetRepository.prototype.retire = () =>
  new Promise<never>(() => {
    setInterval(() => {}, 1_000)
    process.send?.('retiring')
  })

// The example serves where it is what the process was started with.
const main = fileURLToPath(new URL('../../../examples/widgets/main.js', import.meta.url))
process.argv[1] = main
await import(main)
