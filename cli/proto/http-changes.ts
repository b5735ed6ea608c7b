import type { DescMethod } from '@bufbuild/protobuf'
import {
  parsePathTemplate,
  type PathTemplate,
  type Segment,
  type Variable,
} from '../../lib/gateway/routing/path-template.js'
import { httpMethodOf, httpRulesOf, pathOf } from '../../lib/resource/messages/http-paths.js'
import { declaredAt } from './declared-at.js'
import type { HttpRoute, SurfaceChange } from './surface-change.js'

/**
 * Returns the changes for a method's HTTP clients: missing routes, and routes with other inputs or outputs. A
 * path may become more general, and its variables may be renamed.
 */
export function httpChanges(method: DescMethod, earlier: DescMethod): readonly SurfaceChange[] {
  const routes = routesOf(method)
  const at = { ...declaredAt(method), service: method.parent.typeName, method: method.name }
  return routesOf(earlier).flatMap((route): readonly SurfaceChange[] => {
    const answering = routes.filter((one) => answers(one, route))
    const now = answering.find(({ path }) => path === route.path) ?? answering[0]
    if (now === undefined) return [{ ...at, kind: 'http-route-removed', route, now: routes }]
    const changes: SurfaceChange[] = []
    if (now.body !== route.body && sendsMore(earlier, route))
      changes.push({ ...at, kind: 'http-body-changed', route, now })
    if (now.responseBody !== route.responseBody)
      changes.push({ ...at, kind: 'http-response-body-changed', route, now })
    return changes
  })
}

const routesOf = (method: DescMethod): readonly HttpRoute[] =>
  httpRulesOf(method)
    .filter(({ pattern }) => pattern.case !== undefined)
    .map((rule) => ({
      verb: httpMethodOf(rule),
      path: pathOf(rule),
      body: rule.body,
      responseBody: rule.responseBody,
    }))

/**
 * Returns true if requests of the earlier route have a body, or fields in the query that a body would
 * contain.
 */
function sendsMore(method: DescMethod, { path, body }: HttpRoute): boolean {
  const bound = templateOf(path)?.variables.map(({ field }) => field) ?? []
  return body !== '' || method.input.fields.some(({ name }) => !bound.includes(name))
}

const answers = (now: HttpRoute, earlier: HttpRoute): boolean =>
  (now.verb === earlier.verb || now.verb === '*') && takesPaths(now.path, earlier.path)

/** Returns true if every path of the earlier template also matches the current one with the same values. */
function takesPaths(path: string, earlierPath: string): boolean {
  if (path === earlierPath) return true
  const now = templateOf(path)
  const earlier = templateOf(earlierPath)
  return (
    now !== undefined &&
    earlier !== undefined &&
    now.verb === earlier.verb &&
    takesSegments(now.segments, earlier.segments) &&
    earlier.variables.every((variable) => keepsValue(now, earlier, variable))
  )
}

function takesSegments(now: readonly Segment[], earlier: readonly Segment[]): boolean {
  const rest = now.findIndex(({ kind }) => kind === 'rest')
  if (rest === -1 ? now.length !== earlier.length : earlier.length < rest) return false
  return now
    .slice(0, rest === -1 ? undefined : rest)
    .every((segment, index) => takesSegment(segment, earlier[index]))
}

function takesSegment(now: Segment, earlier: Segment | undefined): boolean {
  if (now.kind === 'literal') return earlier?.kind === 'literal' && earlier.text === now.text
  return earlier !== undefined && earlier.kind !== 'rest'
}

/**
 * Returns true if the field still gets the same part of the path. If the field is no longer in the path,
 * other fields may get it.
 */
function keepsValue(now: PathTemplate, earlier: PathTemplate, variable: Variable): boolean {
  const same = now.variables.find(({ field }) => field === variable.field)
  if (same !== undefined) return same.from === variable.from && endOf(now, same) === endOf(earlier, variable)
  return earlier.segments.every(
    ({ kind }, index) =>
      kind === 'literal' ||
      !isIn(earlier, variable, index) ||
      now.variables.some((other) => isIn(now, other, index)),
  )
}

const isIn = (template: PathTemplate, variable: Variable, index: number): boolean =>
  variable.from <= index && index < endOf(template, variable)

/**
 * Returns the position after a variable's last segment; Infinity if the variable extends to the end of the
 * path.
 */
const endOf = ({ segments }: PathTemplate, { to }: Variable): number =>
  to === undefined || to === segments.length ? Infinity : to

/** Parses a template; undefined for an invalid path, which only equals the same text. */
function templateOf(path: string): PathTemplate | undefined {
  try {
    return parsePathTemplate(path)
  } catch {
    return undefined
  }
}
