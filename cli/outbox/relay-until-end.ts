import type { DataSource } from 'typeorm'
import { connect } from 'node:net'
import { Failure } from '../errors/failure.js'
import { terminalLine } from '../output/terminal-line.js'
import { type NatsOptions, natsSink, OptionError, relay } from '../../lib/events/index.js'

/** The parsed flags of `outbox relay`. */
export interface RelayFlags {
  readonly nats: string
  readonly stream?: string | undefined
  readonly prefix?: string | undefined
  readonly replicas?: number | undefined
  readonly 'listen-url'?: string | undefined
  readonly 'max-attempts'?: number | undefined
  readonly tries?: number | undefined
  readonly lease?: number | undefined
}

/** Relays events until SIGINT or SIGTERM, and completes the current work. */
export async function relayUntilEnd(dataSource: DataSource, flags: RelayFlags): Promise<void> {
  const { nats, stream, prefix, replicas, lease: leaseMs, 'listen-url': listenDsn } = flags
  const maxAttempts = flags['max-attempts'] ?? flags.tries
  const options = said({ servers: nats.split(','), stream, prefix, replicas }) as NatsOptions
  const worker = inFlags(() =>
    relay({ dataSource, sink: natsSink(options), ...said({ maxAttempts, leaseMs, listenDsn }) }),
  )
  const [problem] = await worker.startUpCheck()
  if (problem !== undefined) throw new Failure('input', problem)
  const ending = ended()
  worker.start()
  process.stderr.write('relaying until SIGINT or SIGTERM; connects to NATS when the first event is due\n')
  await Promise.race([ending, sayUnreached(nats.split(','))])
  await ending
  await worker.drain()
}

/** The flags whose names differ from the options. */
const FLAGS: Readonly<Record<string, string>> = { servers: 'nats', listenDsn: 'listen-url' }

/**
 * Runs `made` and replaces option names in errors by the names of flags.
 * @throws {Failure} for invalid options.
 */
function inFlags<T>(made: () => T): T {
  try {
    return made()
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error
    const message =
      error instanceof OptionError ? `--${FLAGS[error.option] ?? error.option}: ${error.why}` : error.message
    throw new Failure('input', message, { cause: error })
  }
}

/**
 * Reports that no server accepts a connection at present. The relay continues to try. The NATS client itself
 * reports an invalid URL.
 */
async function sayUnreached(servers: readonly string[]): Promise<void> {
  if (!servers.every((server) => URL.canParse(urlOf(server)))) return
  const reached = await Promise.all(servers.map(isReached))
  const names = servers.map((server) => addressOf(server).host).join(', ')
  if (reached.some(Boolean)) return
  process.stderr.write(`${terminalLine(`NATS at ${names} is not reachable yet: events wait until it is`)}\n`)
}

function isReached(server: string): Promise<boolean> {
  const { hostname, port } = addressOf(server)
  return new Promise((resolve) => {
    const socket = connect({ host: hostname.replaceAll(/[[\]]/g, ''), port: Number(port), timeout: REACH_MS })
    const end = (isThere: boolean) => () => {
      socket.destroy()
      resolve(isThere)
    }
    socket.once('connect', end(true)).once('error', end(false)).once('timeout', end(false))
  })
}

const REACH_MS = 2_000

const urlOf = (server: string): string => (server.includes('://') ? server.trim() : `nats://${server.trim()}`)

/** Returns the address of a server without user and password. */
function addressOf(server: string): {
  readonly hostname: string
  readonly port: string
  readonly host: string
} {
  const { hostname, port } = new URL(urlOf(server))
  const number = port === '' ? '4222' : port
  return { hostname, port: number, host: `${hostname}:${number}` }
}

/** Removes flags that were not given. */
const said = (flags: object): object =>
  Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined))

/** Resolves at the first signal. The second signal ends the process at once. */
const ended = (): Promise<void> =>
  new Promise((resolve) => {
    const hear = (signal: NodeJS.Signals) => {
      process.stderr.write(`${signal}: finishing the current batch; a second signal exits at once\n`)
      for (const signal of SIGNALS) process.removeListener(signal, hear)
      resolve()
    }
    for (const signal of SIGNALS) process.on(signal, hear)
  })

const SIGNALS = ['SIGINT', 'SIGTERM'] as const
