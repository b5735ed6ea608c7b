import { create, type Message } from '@bufbuild/protobuf'
import { InvalidArgument } from '../../errors.js'
import { CONTENT_CODINGS } from '../../gateway/http/content-coding.js'
import { parseQuery } from '../../gateway/transcoding/query-text.js'
import type { Arriving } from './arriving.js'
import { checkCoding, messageOf, type RequestForm } from './request-bytes.js'

/** The parameters of a GET of Connect. */
const NAMES = ['connect', 'encoding', 'message', 'base64', 'compression'] as const
type Parameters = ReadonlyMap<string, string>

/** The parameter `encoding`: `json`, `proto`, or anything. @throws InvalidArgument for a malformed query. */
export const parametersOf = (query: string): Parameters => {
  const parameters = new Map<string, string>()
  for (const [name, value] of parseQuery(query)) {
    if (!(NAMES as readonly string[]).includes(name))
      throw new InvalidArgument('', `a GET has the parameters ${NAMES.join(', ')}, and no other`)
    if (parameters.has(name)) throw new InvalidArgument('', `the parameter ${name} is there twice: send one`)
    parameters.set(name, value)
  }
  return parameters
}

/** The request that a query holds. */
export const fromQuery = async (form: RequestForm, parameters: Parameters): Promise<Arriving> => {
  try {
    checkVersion(parameters.get('connect'))
    return { message: await messageOf(form, await bytesOf(form, parameters)) }
  } catch (error) {
    return { message: create(form.input) as Message, unreadable: error as Error }
  }
}

const bytesOf = async ({ limit }: RequestForm, parameters: Parameters): Promise<Buffer> => {
  const text = parameters.get('message')
  if (text === undefined) throw new InvalidArgument('', 'the parameter message is missing')
  const compression = parameters.get('compression')
  checkCoding(compression)
  const bytes = parameters.get('base64') === '1' ? fromBase64(text) : Buffer.from(text)
  const coding = CONTENT_CODINGS.find(({ name }) => name === compression)
  return coding === undefined ? bytes : Buffer.from(await coding.inflate(bytes, limit))
}

/** In either alphabet, with padding or without. */
const fromBase64 = (text: string): Buffer => {
  if (!/^(?:[A-Za-z0-9_-]*|[A-Za-z0-9+/]*)={0,2}$/.test(text))
    throw new InvalidArgument('', 'the parameter message is not base64')
  return Buffer.from(text, 'base64')
}

/** @throws InvalidArgument for another version of the protocol than the only one there is. */
export const checkVersion = (version: string | undefined): void => {
  if (version !== undefined && version.replace(/^v/, '') !== '1')
    throw new InvalidArgument(
      '',
      'the version of Connect is 1: leave connect-protocol-version out, or send 1',
    )
}
