import type { EdgeRoute, EdgeTile, KeptRoute } from './edge-route.js'

/** The daemon's representation of an unset time. */
const NO_TIME = '0001-01-01T00:00:00Z'

/**
 * Returns a route as the daemon's protocol lists it: with the same names in the same order, and without empty
 * values.
 */
export const routeJson = (route: EdgeRoute, kept?: Pick<KeptRoute, 'createdAt' | 'renewedAt'>): string => {
  const { host, path, stripPrefix, upstream, protocol, backendTls, project, tile, owner, ttl } = route
  const fields = [
    field('host', host),
    optional('path', path),
    stripPrefix ? '"strip_prefix":true' : '',
    field('upstream', upstream),
    optional('protocol', protocol),
    backendTls ? '"backend_tls":true' : '',
    optional('project', project),
    tile === undefined ? '' : `"tile":${tileJson(tile)}`,
    field('source', 'api'),
    optional('owner', owner),
    ttl === 0n ? '' : `"ttl":${ttl}`,
    field('created_at', timeOf(kept?.createdAt)),
    field('renewed_at', timeOf(kept?.renewedAt)),
  ]
  return `{${fields.filter((text) => text !== '').join(',')}}`
}

const tileJson = (tile: EdgeTile): string => {
  const { display_name, description, icon_url, launch_url } = tile
  const fields = Object.entries({ display_name, description, icon_url, launch_url })
  return `{${fields
    .map(([name, value]) => optional(name, value))
    .filter((text) => text !== '')
    .join(',')}}`
}

const field = (name: string, value: string): string => `"${name}":${jsonText(value)}`
const optional = (name: string, value: string): string => (value === '' ? '' : field(name, value))

/** Returns the time without trailing zeros in the fraction. */
const timeOf = (ms: number | undefined): string =>
  ms === undefined ? NO_TIME : new Date(ms).toISOString().replace(/\.?0*Z$/, 'Z')

/** Returns a JSON string with markup escaped, as the daemon does, so that it can be part of a page. */
const jsonText = (text: string): string =>
  JSON.stringify(text.toWellFormed()).replaceAll(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/**
 * Parses the route in the body of a PUT. Only the first JSON value is read, unknown keys are ignored, and
 * keys are case-insensitive.
 *
 * @throws SyntaxError with the daemon's own message.
 */
export function routeInBody(body: string): Omit<EdgeRoute, 'ttl'> & { readonly ttl: string } {
  const fields = fieldsOf(parsed(body), 'RegisterRequest', '')
  const tile = fields.get('tile') ?? undefined
  const ofTile = tile === undefined ? undefined : fieldsOf(tile, 'Tile', 'tile')
  const text = (name: string): string => textIn(fields, name, 'RegisterRequest', '')
  const tileText = (name: string): string =>
    ofTile === undefined ? '' : textIn(ofTile, name, 'Tile', 'tile.')
  return {
    host: text('host'),
    upstream: text('upstream'),
    protocol: text('protocol'),
    backendTls: flagIn(fields, 'backend_tls'),
    path: text('path'),
    stripPrefix: flagIn(fields, 'strip_prefix'),
    project: text('project'),
    owner: text('owner'),
    ttl: text('ttl'),
    tile:
      ofTile === undefined
        ? undefined
        : {
            display_name: tileText('display_name'),
            description: tileText('description'),
            icon_url: tileText('icon_url'),
            launch_url: tileText('launch_url'),
          },
  }
}

type Fields = ReadonlyMap<string, unknown>

function fieldsOf(value: unknown, struct: string, path: string): Fields {
  if (value === null) return new Map()
  if (typeof value === 'object' && !Array.isArray(value))
    return new Map(Object.entries(value).map(([name, one]) => [name.toLowerCase(), one as unknown]))
  const where =
    path === ''
      ? 'Go value of type daemon.RegisterRequest'
      : `Go struct field RegisterRequest.${path} of type types.${struct}`
  throw new SyntaxError(`json: cannot unmarshal ${kindOf(value)} into ${where}`)
}

function textIn(fields: Fields, name: string, struct: string, prefix: string): string {
  const value = fields.get(name) ?? ''
  if (typeof value === 'string') return value
  throw new SyntaxError(
    `json: cannot unmarshal ${kindOf(value)} into Go struct field ${struct}.${prefix}${name} of type string`,
  )
}

function flagIn(fields: Fields, name: string): boolean {
  const value = fields.get(name) ?? false
  if (typeof value === 'boolean') return value
  throw new SyntaxError(
    `json: cannot unmarshal ${kindOf(value)} into Go struct field RegisterRequest.${name} of type bool`,
  )
}

const kindOf = (value: unknown): string =>
  Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value

function parsed(body: string): unknown {
  const text = body.trimStart()
  if (text === '') throw new SyntaxError('EOF')
  const value = firstValue(text)
  if (value === undefined) throw new SyntaxError('unexpected EOF')
  try {
    return JSON.parse(value) as unknown
  } catch (error) {
    const [, token = text[0] ?? ''] = /token '?(.)'?/su.exec((error as Error).message) ?? []
    throw new SyntaxError(`invalid character '${token}' looking for beginning of value`)
  }
}

/** Returns the text of the first value, or undefined if an object or list is not closed. */
function firstValue(text: string): string | undefined {
  if (!/^[{[]/.test(text)) return /^("(?:[^"\\]|\\.)*"|[^\s,]+)/s.exec(text)?.[0]
  let depth = 0
  let isText = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '"') isText = !isText
    else if (isText) at += Number(character === '\\')
    else if (character === '{' || character === '[') depth++
    else if (character === '}' || character === ']') depth--
    if (depth === 0) return text.slice(0, at + 1)
  }
  return undefined
}
