import type { DataSource } from 'typeorm'
import { Failure } from '../errors/failure.js'
import { type NatsOptions, natsSink, relay } from '../../lib/events/index.js'

/** The parsed flags of `outbox relay`. */
export interface RelayFlags {
  readonly nats: string
  readonly stream?: string | undefined
  readonly prefix?: string | undefined
  readonly replicas?: number | undefined
  readonly 'listen-url'?: string | undefined
  readonly tries?: number | undefined
  readonly lease?: number | undefined
}

/** Relays until SIGINT or SIGTERM, and finishes what it has begun. */
export async function relayUntilEnd(dataSource: DataSource, flags: RelayFlags): Promise<void> {
  const { nats, stream, prefix, replicas, tries, lease: leaseMs, 'listen-url': listenDsn } = flags
  const options = said({ servers: nats.split(','), stream, prefix, replicas }) as unknown as NatsOptions
  const worker = relay({ dataSource, sink: natsSink(options), ...said({ tries, leaseMs, listenDsn }) })
  const [problem] = await worker.startUpCheck()
  if (problem !== undefined) throw new Failure('input', problem)
  worker.start()
  process.stderr.write('relaying until SIGINT or SIGTERM; NATS is connected with the first event\n')
  await ended()
  await worker.drain()
}

/** Without the flags that were left out. */
const said = (flags: object): object =>
  Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined))

/** The second signal ends the process at once. */
const ended = (): Promise<void> =>
  new Promise((resolve) => {
    const hear = (signal: NodeJS.Signals) => {
      process.stderr.write(`${signal}: finishing what it has begun; once more ends at once\n`)
      for (const signal of SIGNALS) process.removeListener(signal, hear)
      resolve()
    }
    for (const signal of SIGNALS) process.on(signal, hear)
  })

const SIGNALS = ['SIGINT', 'SIGTERM'] as const
