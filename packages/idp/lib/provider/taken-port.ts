import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** Describes the process that uses the port, as far as this machine shows it, with advice. */
export async function takenPort(port: number): Promise<string> {
  const kind = (await isProvider(port)) ? 'another ashlar-idp' : undefined
  const holder = [kind, holderOf(port)].filter((part) => part !== undefined).join(', ') || 'another program'
  const command =
    process.platform === 'win32'
      ? `netstat -ano | findstr :${port}`
      : process.platform === 'linux'
        ? `ss -ltnp "sport = :${port}"`
        : `lsof -nP -iTCP:${port} -sTCP:LISTEN`
  return `port ${port} is used by ${holder}: stop it, or choose another port with --port. To see the process: ${command}`
}

async function isProvider(port: number): Promise<boolean> {
  try {
    const response = await fetch(`http://localhost:${port}/launchpad.json`, {
      signal: AbortSignal.timeout(2_000),
    })
    return 'apps' in ((await response.json()) as object)
  } catch {
    return false
  }
}

/** Returns the process that listens on a port of this machine, or undefined if it is not visible. */
function holderOf(port: number): string | undefined {
  try {
    const hex = port.toString(16).toUpperCase().padStart(4, '0')
    const lines = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((path) =>
      readFileSync(path, 'utf8').split('\n'),
    )
    const fields = lines.map((line) => line.trim().split(/\s+/))
    const inode = fields.find(([, local = '', , state]) => local.endsWith(`:${hex}`) && state === '0A')?.[9]
    const pid = readdirSync('/proc').find(
      (name) => /^\d+$/.test(name) && hasSocket(name, `socket:[${inode}]`),
    )
    return pid && `process ${pid} (${readFileSync(`/proc/${pid}/comm`, 'utf8').trim()})`
  } catch {
    return undefined
  }
}

function hasSocket(pid: string, socket: string): boolean {
  try {
    const folder = `/proc/${pid}/fd`
    return readdirSync(folder).some((fd) => readlinkSync(`${folder}/${fd}`) === socket)
  } catch {
    return false
  }
}
