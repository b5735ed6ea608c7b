import type { Screen } from './screen.js'

/** A call, and the status that it has to end with. */
export interface Exchange {
  readonly method?: string
  readonly path: string
  /** Headers that say who is calling. */
  readonly as?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly status: number
}

/** Makes calls, and prints each as a line that can be pasted. They throw when a status is not the expected one. */
export function exchanges(url: string, screen: Screen, caller: Readonly<Record<string, string>>) {
  return async ({ method = 'GET', path, as = caller, headers = {}, body, status }: Exchange) => {
    const all: Record<string, string> = {
      ...as,
      ...headers,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    }
    screen.asked(curl(method, url + path, all, body))
    const response = await fetch(url + path, {
      method,
      headers: all,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    screen.answered(
      `${response.status} ${text}${response.headers.has('etag') ? `   ETag: ${response.headers.get('etag')}` : ''}`,
    )
    if (response.status !== status) throw new TypeError(`expected ${status}, not ${response.status}`)
    return { text, etag: response.headers.get('etag') ?? '' }
  }
}

function curl(method: string, url: string, headers: Readonly<Record<string, string>>, body: unknown): string {
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
  const parts = ['curl -s', ...(method === 'GET' ? [] : [`-X ${method}`]), quoted(url)]
  for (const [name, value] of Object.entries(headers)) parts.push(`-H ${quoted(`${name}: ${value}`)}`)
  if (body !== undefined) parts.push(`-d ${quoted(JSON.stringify(body))}`)
  return parts.join(' ')
}
