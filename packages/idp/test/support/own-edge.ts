import { mkdtempSync, rmSync } from 'node:fs'
import { request, type RequestOptions } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type EdgeOptions, type RunningEdge, startEdge } from '../../lib/edge/start-edge.js'

/** An edge with a home of its own. */
export interface OwnEdge {
  readonly edge: RunningEdge
  readonly folder: string
  readonly close: () => Promise<void>
}

export async function ownEdge(options: EdgeOptions = {}): Promise<OwnEdge> {
  const folder = mkdtempSync(join(tmpdir(), 'edge-'))
  const home = { folder, socketPath: join(folder, 'devedged.sock'), host: '127.0.0.1', port: 0 }
  const edge = await startEdge({ port: 0, home, warn: () => {}, ...options })
  return {
    edge,
    folder,
    close: async () => {
      await edge.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export interface RawResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** One request, with the headers as they were sent. */
export const call = (options: RequestOptions, body?: string): Promise<RawResponse> =>
  new Promise((resolve, reject) => {
    const sent = request({ agent: false, ...options }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => (text += part))
      response.on('error', reject)
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers as Record<string, string>,
          body: text,
        }),
      )
    })
    sent.on('error', reject)
    sent.end(body)
  })
