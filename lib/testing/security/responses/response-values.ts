import type { Outcome } from '../wire/listener-clients.js'
import { withoutKey } from '../world/made-up-keys.js'

/**
 * The values in a call's response. A string counts as one value plus the numbers in it, so that the numbers
 * in `3 of 5` can be compared.
 */
export type ResponseValues = ReadonlyMap<string, string | number>

/**
 * Returns the values of a response.
 * @param spoken - strings of the request, which reveal nothing in a response, and their placeholders.
 * @param counted - fields, as `package.Message.localName`, with a number that the database generates for all
 *   tenants.
 */
export const responseValuesOf = (
  outcome: Outcome,
  spoken: ReadonlyMap<string, string>,
  counted: ReadonlySet<string> = new Set(),
): ResponseValues => {
  const values = new Map<string, string | number>([['code', outcome.code]])
  const named = (text: string): string => {
    let said = text
    for (const [one, other] of spoken) said = withoutKey(said, one, other)
    return said
  }
  const put = (path: string, value: unknown): void => {
    if (typeof value === 'string') return putText(values, path, named(value))
    if (typeof value === 'number' || typeof value === 'bigint') {
      const key = KEY.test(path) ? spoken.get(String(value)) : undefined
      return void values.set(path, key ?? numberOf(value))
    }
    if (typeof value === 'boolean') return void values.set(path, String(value))
    if (ArrayBuffer.isView(value))
      return void values.set(
        path,
        Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex'),
      )
    if (Array.isArray(value)) {
      values.set(`${path}.length`, value.length)
      return value.forEach((one, index) => put(`${path}[${index}]`, one))
    }
    if (typeof value !== 'object' || value === null) return
    const { $typeName } = value as { readonly $typeName?: unknown }
    if ($typeName === 'google.protobuf.Timestamp')
      return putText(values, path, timeOf(value as { readonly seconds: bigint; readonly nanos: number }))
    const entries = Object.entries(value).filter(([name]) => !name.startsWith('$'))
    if ($typeName === undefined) values.set(`${path}.size`, entries.length)
    for (const [name, one] of entries)
      if (!counted.has(`${String($typeName)}.${name}`)) put(`${path}.${named(name)}`, one)
  }
  put('message', outcome.message)
  for (const line of outcome.metadata.split('\n'))
    if (!EACH_CALLS.test(line)) put(`header ${line.split(':')[0]}`, line)
  put('', outcome.response)
  return values
}

/** Matches a path whose number may be a key. */
const KEY = /(\.id|Id)s?(\[\d+\])?$/

/** Matches headers that differ from call to call. */
const EACH_CALLS = /^(x-request-id|date|content-length|traceparent|keep-alive|connection)\b/i

/** Matches a number that is not part of an id. */
const NUMBER = /(?<![\w-])\d{1,15}(?![\w-])/g

const putText = (values: Map<string, string | number>, path: string, text: string): void => {
  const said = text.replace(TIME, (time) => (isNow(Date.parse(time)) ? NOW : time))
  values.set(path, said.replaceAll(NUMBER, '#'))
  for (const [index, [digits]] of [...said.matchAll(NUMBER)].entries())
    values.set(`${path} #${index}`, numberOf(Number(digits)))
}

const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?/g
const NOW = '<now>'
const AN_HOUR = 3_600_000

const isNow = (ms: number): boolean => Math.abs(ms - Date.now()) < AN_HOUR

/** Returns a number, or a placeholder if it is the current time, which reveals nothing about rows. */
const numberOf = (value: number | bigint): string | number => {
  const number = Number(value)
  if (isNow(number) || isNow(number * 1000)) return NOW
  return typeof value === 'bigint' && !Number.isSafeInteger(number) ? String(value) : number
}

const timeOf = ({ seconds, nanos }: { readonly seconds: bigint; readonly nanos: number }): string =>
  isNow(Number(seconds) * 1000) ? NOW : `${seconds}.${nanos}`
