import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { Failure } from '../errors/failure.js'
import { nearestNames } from '../../lib/text/nearest-names.js'
import { canonicalHost } from './routes/host.js'
import { type Route, TILE_KEYS } from './routes/route.js'
import { Section } from './section.js'
import { refuseScripts, tileOf } from './routes/tile.js'
import { httpUpstream } from './upstream.js'

/** The routes in a file, and notes for its author. */
export interface LocalConfig {
  readonly routes: readonly Route[]
  readonly notes: readonly string[]
}

export const API_VERSION = 'devedge.infoblox.dev/v1alpha1'

/** The files that are read if the user names none. */
export const LOCAL_FILES: readonly string[] = ['devedge.yaml', 'shell.yaml']

const LARGEST_FILE_BYTES = 1 << 20
const DOCUMENT_KEYS = ['apiVersion', 'kind', 'metadata', 'spec']
const METADATA_KEYS = ['name', 'namespace', 'labels', 'annotations']
const ROUTE_KEYS = ['host', 'path', 'upstream', 'protocol', 'tile', 'stripPrefix', 'backendTLS', 'mode']

interface Kind {
  readonly specKeys: readonly string[]
  readonly routes: (spec: Section, project: string) => readonly Route[]
}

const KINDS: Readonly<Record<string, Kind>> = {
  Config: {
    specKeys: ['defaults', 'routes'],
    routes: (spec, project) => {
      const entries = spec.sections('routes', ROUTE_KEYS)
      if (entries === undefined)
        throw new Failure('input', `${spec.where('routes')} is missing: list at least one route`)
      return allOf(entries, (entry) => [routeOf(entry, project)])
    },
  },
  Service: {
    specKeys: ['dev', 'dependencies', 'routes'],
    routes: (spec, project) =>
      allOf(spec.sections('routes', ROUTE_KEYS) ?? [], (entry) => [routeOf(entry, project)]),
  },
  Shell: {
    specKeys: ['host', 'shellUpstream', 'tile', 'cdn', 'api', 'ufes'],
    routes: (spec, project) => [
      {
        ...httpRoute(spec, 'shellUpstream', spec.section('tile', TILE_KEYS)),
        path: '',
        project,
      },
    ],
  },
}

/**
 * Reads a file of routes. `shown` is its name in messages. `notes` receives the notes even if reading fails.
 * @throws Failure with the file, and with the invalid field if there is one.
 */
export function readLocalConfig(path: string, shown: string, notes: string[] = []): LocalConfig {
  const file = resolve(path)
  const stat = attempt(shown, () => statSync(file))
  if (!stat.isFile()) throw new Failure('input', `${shown} is not a file: name a routes file`)
  if (stat.size > LARGEST_FILE_BYTES)
    throw new Failure('input', `${shown} is larger than 1 MiB: is it a routes file?`)
  return parseLocalConfig(
    attempt(shown, () => readFileSync(file, 'utf8')),
    shown,
    notes,
  )
}

/** Returns the routes of every document in the text. `notes` receives the notes even if parsing fails. */
export function parseLocalConfig(text: string, file: string, notes: string[] = []): LocalConfig {
  const routes = allOf(documentsIn(text, file), (content) => routesOf(content, file, notes))
  return { routes, notes }
}

/** Reads all parts, so that the notes of each are collected, and then throws the first failure. */
function allOf<T>(parts: readonly T[], read: (part: T) => readonly Route[]): readonly Route[] {
  const failures: unknown[] = []
  const routes = parts.flatMap((part) => {
    try {
      return read(part)
    } catch (error) {
      failures.push(error)
      return []
    }
  })
  if (failures.length > 0) throw failures[0]
  return routes
}

function attempt<T>(shown: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') throw new Failure('input', `there is no file ${shown}: check --config`)
    if (code === 'EACCES') throw new Failure('input', `${shown} may not be read: check its permissions`)
    throw new Failure('input', `${shown} cannot be read: ${message}`)
  }
}

function documentsIn(text: string, file: string): readonly unknown[] {
  let contents: readonly unknown[]
  try {
    contents = parseAllDocuments(text, { logLevel: 'silent', merge: true }).map((document) => {
      const [mistake] = document.errors
      if (mistake !== undefined) throw mistake
      return document.toJS({ maxAliasCount: 100 }) as unknown
    })
  } catch (error) {
    const [line = ''] = (error as Error).message.split('\n')
    throw new Failure('input', `${file} is not valid YAML: ${line.replace(/:$/, '')}`)
  }
  const present = contents.filter((content) => content !== null && content !== undefined)
  if (present.length === 0) throw new Failure('input', `${file} is empty: add routes, or remove the file`)
  return present
}

function routesOf(content: unknown, file: string, notes: string[]): readonly Route[] {
  const document = new Section(content, { file, path: '', notes }, DOCUMENT_KEYS)
  const apiVersion = document.required('apiVersion')
  if (apiVersion !== API_VERSION)
    throw new Failure(
      'input',
      `${document.where('apiVersion')} "${apiVersion}" is not supported: use ${API_VERSION}`,
    )
  const kindName = document.required('kind')
  const kind = Object.hasOwn(KINDS, kindName) ? KINDS[kindName] : undefined
  if (kind === undefined) {
    const known = Object.keys(KINDS)
    const [meant] = nearestNames(kindName, known)
    const advice = meant === undefined ? `use ${known.join(', ')}` : `did you mean ${meant}?`
    throw new Failure('input', `${document.where('kind')} "${kindName}" is not known: ${advice}`)
  }
  const metadata = document.section('metadata', METADATA_KEYS)
  const spec = document.section('spec', kind.specKeys)
  const project = metadata?.text('name').trim() ?? ''
  if (project === '')
    notes.push(
      `${document.where('metadata.name')} is missing: each app is named by the first label of its host`,
    )
  if (spec === undefined)
    throw new Failure('input', `${document.where('spec')} is missing: is the file complete?`)
  return kind.routes(spec, project)
}

function routeOf(entry: Section, project: string): Route {
  const tile = entry.section('tile', TILE_KEYS)
  const protocol = entry.text('protocol').toLowerCase() || 'http'
  const path = entry.text('path')
  if (protocol === 'http')
    return { ...httpRoute(entry, 'upstream', tile), path: path === '/' ? '' : path, project }
  if (protocol !== 'tcp')
    throw new Failure('input', `${entry.where('protocol')} "${protocol}" is not known: use http or tcp`)
  const [host, upstream] = [entry.required('host'), entry.required('upstream')]
  return { host, upstream, path, protocol, project, fromFile: true }
}

function httpRoute(
  entry: Section,
  upstreamKey: string,
  fields: Section | undefined,
): Omit<Route, 'path' | 'project'> {
  const host = canonicalHost(entry.required('host'), entry.where('host'))
  const upstream = httpUpstream(entry.required(upstreamKey), entry.where(upstreamKey))
  const tile = fields && tileOf(Object.fromEntries(TILE_KEYS.map((key) => [key, fields.text(key)])))
  if (tile !== undefined) refuseScripts(tile, entry.where('tile'))
  return { host, upstream, protocol: 'http', ...(tile && { tile }), fromFile: true }
}
