/** The position of a declaration. */
export interface Declared {
  /** The .proto file in the notation of imports. */
  readonly file: string
  /** The line number, starting at 1. */
  readonly line: number
}

/** A route of `google.api.http`. */
export interface HttpRoute {
  /** The HTTP method, such as `GET`; `*` for all. */
  readonly verb: string
  readonly path: string
  /** `''` for no body, `*` for the whole request, or the name of its field. */
  readonly body: string
  /** `''` for the whole response, or the name of its field. */
  readonly responseBody: string
}

interface OfMethod {
  /** The full name of the service. */
  readonly service: string
  readonly method: string
}

interface OfField {
  /** The name of the message without its package. */
  readonly message: string
  readonly field: string
  readonly number: number
}

/** A change that breaks clients of an earlier version and that buf's wire and JSON rules do not cover. */
export type SurfaceChange = Declared &
  (
    | { readonly kind: 'service-removed'; readonly service: string }
    | (OfMethod & { readonly kind: 'method-removed' })
    /** `now` contains the current routes of the method. */
    | (OfMethod & {
        readonly kind: 'http-route-removed'
        readonly route: HttpRoute
        readonly now: readonly HttpRoute[]
      })
    | (OfMethod & {
        readonly kind: 'http-body-changed' | 'http-response-body-changed'
        readonly route: HttpRoute
        readonly now: HttpRoute
      })
    /** `now` is `''` if the message is no longer a resource. */
    | {
        readonly kind: 'resource-type-changed'
        readonly message: string
        readonly was: string
        readonly now: string
      }
    | { readonly kind: 'resource-pattern-removed'; readonly type: string; readonly pattern: string }
    | (OfField & { readonly kind: 'field-newly-required'; readonly isNew: boolean })
    | (OfField & {
        readonly kind: 'field-newly-set-by-server'
        readonly behavior: 'OUTPUT_ONLY' | 'IDENTIFIER'
      })
    | (OfField & { readonly kind: 'field-newly-immutable' | 'field-newly-input-only' })
  )

/** Returns the rule that a change breaks in buf's style, such as `FIELD_NEWLY_REQUIRED`. */
export const ruleOf = ({ kind }: SurfaceChange): string => kind.toUpperCase().replaceAll('-', '_')

/** Describes the change and its effect on clients, with advice. */
export function textOf(change: SurfaceChange): string {
  switch (change.kind) {
    case 'service-removed':
      return `Service "${change.service}" was removed: all calls of its clients fail. ${KEEP}`
    case 'method-removed':
      return `${methodOf(change)} was removed: calls of it fail. ${KEEP}`
    case 'http-route-removed':
      return `${methodOf(change)} no longer serves ${routeOf(change.route)}${insteadOf(change.now)}: requests of clients that send it fail. ${keptRoute(change)}`
    case 'http-body-changed':
      return `${methodOf(change)} now takes ${bodyOf(change.now.body)} as the body of ${routeOf(change.route)}; it took ${bodyOf(change.route.body)} before. Requests of existing clients are rejected or misread. Keep the body, and give the new form its own path in additional_bindings.`
    case 'http-response-body-changed':
      return `${methodOf(change)} now answers ${routeOf(change.route)} with ${answerOf(change.now.responseBody)}; it answered with ${answerOf(change.route.responseBody)} before. Existing clients misread it. Keep the response_body, and give the new form its own path in additional_bindings.`
    case 'resource-type-changed':
      return `Message "${change.message}" ${change.now === '' ? 'no longer has a resource type' : `now has the resource type "${change.now}"`}; it had "${change.was}" before. References and access rules name the old type. Keep the type.`
    case 'resource-pattern-removed':
      return `Resource "${change.type}" no longer has the pattern "${change.pattern}": names that clients stored are not found. Keep the pattern, and add the new one after it.`
    case 'field-newly-required':
      return `${fieldOf(change)} ${change.isNew ? 'is new and REQUIRED' : 'is now REQUIRED'}: requests of clients that do not send it are rejected. Add REQUIRED in a later release, when every client sends it.`
    case 'field-newly-set-by-server':
      return `${fieldOf(change)} is now ${change.behavior}: values that clients send in it are dropped. Leave it unchanged, and give the server's value its own field.`
    case 'field-newly-immutable':
      return `${fieldOf(change)} is now IMMUTABLE: updates that change it are rejected. Add IMMUTABLE in a later release, when no client changes it.`
    case 'field-newly-input-only':
      return `${fieldOf(change)} is now INPUT_ONLY: clients no longer receive it. Add INPUT_ONLY in a later release, when no client reads it.`
  }
}

const KEEP = 'Keep it, with the option deprecated, until no client calls it.'

const methodOf = ({ service, method }: OfMethod): string => `Method "${method}" of service "${service}"`

const fieldOf = ({ message, field, number }: OfField): string =>
  `Field "${number}" with name "${field}" on message "${message}"`

const routeOf = ({ verb, path }: HttpRoute): string => `${verb} ${path}`

const bodyOf = (body: string): string => (body === '' ? 'nothing' : partOf('request', body))

const answerOf = (body: string): string => partOf('response', body === '' ? '*' : body)

const partOf = (message: string, body: string): string =>
  body === '*' ? `the whole ${message}` : `the field "${body}"`

const insteadOf = (routes: readonly HttpRoute[]): string =>
  routes.length === 0 ? '' : `, and answers ${routes.map(routeOf).join(', ')}`

function keptRoute({
  route,
  now,
}: {
  readonly route: HttpRoute
  readonly now: readonly HttpRoute[]
}): string {
  const rule = `{ ${optionOf(route)} }`
  return now.length === 0
    ? `Keep it: option (google.api.http) = ${rule}.`
    : `Keep it beside the others: additional_bindings ${rule}.`
}

const OWN_VERBS = ['GET', 'PUT', 'POST', 'DELETE', 'PATCH']

function optionOf({ verb, path, body, responseBody }: HttpRoute): string {
  const parts = [
    OWN_VERBS.includes(verb)
      ? `${verb.toLowerCase()}: ${JSON.stringify(path)}`
      : `custom { kind: ${JSON.stringify(verb)} path: ${JSON.stringify(path)} }`,
    ...(body === '' ? [] : [`body: ${JSON.stringify(body)}`]),
    ...(responseBody === '' ? [] : [`response_body: ${JSON.stringify(responseBody)}`]),
  ]
  return parts.join(' ')
}
