import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { LinkedProject } from './linked-project.js'

/** A project that runs as with `npm start`, in development mode and on free ports. */
export interface StartedProject {
  /** The base URL, such as `http://127.0.0.1:1234`. */
  readonly url: string
  readonly grpcAddress: string
  stop(): Promise<number | null>
}

export async function startedProject(
  { folder, env }: LinkedProject,
  more: NodeJS.ProcessEnv = {},
): Promise<StartedProject> {
  const child: ChildProcess = spawn(process.execPath, ['--enable-source-maps', 'dist/src/main.js'], {
    cwd: folder,
    env: { ...env, NODE_ENV: 'development', GRPC_ADDR: '127.0.0.1:0', HTTP_ADDR: '127.0.0.1:0', ...more },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => (said += text))
  const ended = once(child, 'exit').then(([exit]) => exit as number | null)
  const first = await Promise.race([once(child, 'message').then(() => 'ready'), ended])
  if (first !== 'ready') throw new Error(`the project ended with ${String(first)}: ${said}`)
  const [, grpcAddress = '', httpAddress = ''] = /gRPC on (\S+), HTTP on (\S+)/.exec(said) ?? []
  return {
    url: `http://${httpAddress}`,
    grpcAddress,
    stop: async () => {
      child.kill('SIGTERM')
      return ended
    },
  }
}
