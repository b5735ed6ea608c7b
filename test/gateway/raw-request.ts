import { connect, type Socket } from 'node:net'

/** What a raw socket got back until the server closed it, or until `enough` said so. */
export interface RawAnswer {
  readonly text: string
  readonly isClosed: boolean
}

/** Sends bytes as they are. */
export function rawRequest(
  port: number,
  bytes: string | Uint8Array,
  enough: (text: string) => boolean = () => false,
): Promise<RawAnswer> {
  return new Promise((resolve) => {
    let text = ''
    const socket: Socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    const done = (isClosed: boolean): void => {
      socket.destroy()
      resolve({ text, isClosed })
    }
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      if (enough(text)) done(false)
    })
    socket.on('error', () => done(true))
    socket.on('close', () => done(true))
  })
}

/** Whether the text holds a whole answer with a JSON body. */
export const hasAnswer = (text: string): boolean => {
  const length = /^content-length: (\d+)\r$/im.exec(text)?.[1]
  const start = text.indexOf('\r\n\r\n')
  return length !== undefined && start >= 0 && text.length >= start + 4 + Number(length)
}

/** The status of the first answer, or 0. */
export const statusOf = (text: string): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0)

/** The JSON body of the first answer. */
export const bodyOf = (text: string): unknown => {
  const length = Number(/^content-length: (\d+)\r$/im.exec(text)?.[1] ?? 0)
  const start = text.indexOf('\r\n\r\n') + 4
  return JSON.parse(Buffer.from(text.slice(start, start + length), 'latin1').toString('utf8'))
}
