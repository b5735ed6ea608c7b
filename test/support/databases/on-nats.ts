import { connect, type NatsConnection } from '@nats-io/transport-node'
import { jetstream, type JetStreamClient, jetstreamManager, type JetStreamManager } from '@nats-io/jetstream'
import { inCi } from '../running/asked.js'
import { serviceUrl } from '../running/services.js'
import { leftOut } from '../running/summary.js'
import type { NatsOptions } from '../../../lib/events/nats/nats-options.js'

let count = 0

/** A temporary stream on the NATS server of the run. */
export interface TestStream {
  readonly options: NatsOptions & { readonly stream: string; readonly prefix: string }
  readonly connection: NatsConnection
  readonly client: JetStreamClient
  readonly manager: JetStreamManager
  /** Returns the messages in the stream, oldest first. */
  messages(): Promise<StreamMessage[]>
  /** Removes the stream. */
  close(): Promise<void>
}

export interface StreamMessage {
  readonly subject: string
  readonly id: string
  readonly header: (name: string) => string
  readonly event: Readonly<Record<string, unknown>>
}

/**
 * @param servers - a different NATS server than the run's.
 */
export async function testStream(servers = serviceUrl('nats')): Promise<TestStream> {
  if (servers === undefined) throw new TypeError('there is no NATS: see test/support/running/services.ts')
  const name = `test_${process.pid}_${++count}`
  const connection = await connect({ servers })
  const [client, manager] = [jetstream(connection), await jetstreamManager(connection)]
  return {
    options: { servers, stream: name, prefix: name },
    ...{ connection, client, manager },
    messages: async () => {
      const { state } = await manager.streams.info(name)
      const found: StreamMessage[] = []
      if (state.messages === 0) return found
      const reader = await client.consumers.get(name)
      const read = await reader.consume({ max_messages: 1000 })
      for await (const { subject, headers, data, info } of read) {
        const header = (one: string) => headers?.get(one) ?? ''
        const event = JSON.parse(Buffer.from(data).toString()) as Record<string, unknown>
        found.push({ subject, id: header('Nats-Msg-Id'), header, event })
        if (info.pending === 0) break
      }
      await reader.delete()
      return found
    },
    close: async () => {
      await manager.streams.delete(name).catch(() => {})
      await connection.close()
    },
  }
}

/** Skips a suite if there is no NATS server, or fails it if skipping is not allowed. */
export function needsNats(suite: string, test: { skip(): void }): void {
  if (serviceUrl('nats') !== undefined) return
  leftOut(suite, 'no NATS')
  if (inCi()) throw new TypeError('NATS cannot be had')
  test.skip()
}
