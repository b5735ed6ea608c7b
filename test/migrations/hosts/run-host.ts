import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { HostOrders, HostReport } from './migrating.js'

/** What became of a host: its report, or undefined when it was killed. */
export async function runHost(orders: HostOrders): Promise<HostReport | undefined> {
  const script = fileURLToPath(new URL('./migrating.js', import.meta.url))
  const child = spawn(process.execPath, [script, JSON.stringify(orders)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (printed += chunk))
  const signal = await new Promise<NodeJS.Signals | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (_, by) => resolve(by))
  })
  return signal === 'SIGKILL' ? undefined : (JSON.parse(printed) as HostReport)
}
