import type { DescField, DescMessage, DescMethod, Message } from '@bufbuild/protobuf'
import { DeclarationError, problem, type Problem } from '../../errors.js'
import type { HttpRule } from 'ashlar-annotations/google/api/http_pb.js'
import { httpMethodOf, httpRulesOf, pathOf } from '../../resource/messages/http-paths.js'
import { type FieldPath, findField } from '../transcoding/field-path.js'
import { type FieldReader, fieldReader } from '../json/reader.js'
import { fieldWriter, type JsonWriter, messageWriter } from '../json/writer.js'
import { parsePathTemplate, type PathTemplate, UnservedRule, type Variable } from './path-template.js'
import { type Bound, type QueryBinder, queryBinder } from '../transcoding/query-binding.js'
import { type ReadMask, readMaskOf } from '../transcoding/prune-response.js'
import { RouteTable } from './route-table.js'
import { maskTargetOf, type MaskTarget } from '../transcoding/update-mask-forms.js'

/** A compiled HTTP rule of a method. */
export interface Binding {
  readonly method: DescMethod
  readonly httpMethod: string
  readonly template: PathTemplate
  readonly variables: readonly (Variable & { readonly path: FieldPath; readonly read: FieldReader })[]
  /** `*` for the whole request, a single field, or undefined for no body. */
  readonly body: '*' | DescField | undefined
  /** Reads the body into its field; undefined if the body is not a single field. */
  readonly readBody: FieldReader | undefined
  readonly responseBody: DescField | undefined
  /** Writes the response, or the field of it that is the response body. */
  readonly write: JsonWriter<Message>
  readonly bound: Bound
  /** Fills the request from the query. */
  readonly bindQuery: QueryBinder
  /** The request's update mask, if it has one. */
  readonly mask: MaskTarget | undefined
  /** The request's read mask, if it has one. */
  readonly readMask: ReadMask | undefined
}

/**
 * Returns the routes of the methods' `google.api.http` rules.
 * @param warn - called for each valid rule that gets no route.
 * @throws DeclarationError with every invalid rule, and every pair of rules for the same path.
 */
export function routesOf(
  methods: readonly DescMethod[],
  warn: (text: string) => void = () => {},
): RouteTable<Binding> {
  const table = new RouteTable<Binding>()
  const problems: Problem[] = []
  for (const method of methods) {
    for (const [index, rule] of httpRulesOf(method).entries()) {
      const where = `${method.parent.typeName}/${method.name} ${pathOf(rule)}`
      try {
        const binding = bindingOf(method, rule, index)
        if (!table.add({ ...binding, target: binding }))
          throw new TypeError('another rule has the same method and path')
      } catch (error) {
        if (!(error instanceof TypeError)) throw error
        if (error instanceof UnservedRule) warn(`${where} gets no route: ${error.message}`)
        else problems.push(problem('gateway', `${where}: ${error.message}`))
      }
    }
  }
  if (problems.length > 0) throw new DeclarationError('gateway', problems)
  return table
}

/**
 * Compiles an HTTP rule.
 * @param index - the position among the method's rules.
 * @throws TypeError with the problem of the rule.
 * @throws UnservedRule for a valid rule that the gateway does not support.
 */
export function bindingOf(method: DescMethod, rule: HttpRule, index: number): Binding {
  if (index > 0 && rule.additionalBindings.length > 0) throw new TypeError('additional bindings do not nest')
  if (method.methodKind === 'client_streaming' || method.methodKind === 'bidi_streaming')
    throw new UnservedRule('a stream of requests is served over gRPC only')
  const httpMethod = methodOf(rule)
  const template = parsePathTemplate(pathOf(rule))
  const variables = template.variables.map((variable) => {
    const path = boundField(method.input, variable)
    return { ...variable, path, read: fieldReader(path.field) }
  })
  const body =
    rule.body === '' || rule.body === '*' ? rule.body || undefined : topField(method.input, rule.body, 'body')
  if (body !== undefined && (httpMethod === 'GET' || httpMethod === 'HEAD'))
    throw new TypeError(`a ${httpMethod} takes no body`)
  const bound = {
    path: new Set(variables.map(({ path }) => path.name)),
    body: typeof body === 'object' ? body.name : (body ?? ''),
  }
  const responseBody =
    rule.responseBody === '' ? undefined : topField(method.output, rule.responseBody, 'response_body')
  return {
    method,
    httpMethod,
    template,
    variables,
    body: body as Binding['body'],
    readBody: typeof body === 'object' ? fieldReader(body) : undefined,
    responseBody,
    write: responseBody === undefined ? messageWriter(method.output) : fieldWriter(responseBody),
    bound,
    bindQuery: queryBinder(method.input, bound, method.output),
    mask: maskTargetOf(method.input, typeof body === 'object' ? body : undefined),
    readMask: rule.responseBody === '' ? readMaskOf(method) : undefined,
  }
}

/**
 * Returns the bindings of a method that get a route, each with the position of its rule.
 * @throws TypeError with the problem of a rule.
 */
export const servedBindings = (method: DescMethod): readonly (readonly [Binding, number])[] =>
  httpRulesOf(method).flatMap((rule, index) => {
    try {
      return [[bindingOf(method, rule, index), index] as const]
    } catch (error) {
      if (error instanceof UnservedRule) return []
      throw error
    }
  })

function methodOf(rule: HttpRule): string {
  if (rule.pattern.case === undefined) throw new TypeError('has no method and path')
  const method = httpMethodOf(rule)
  if (method === '') throw new TypeError('a custom pattern needs a kind')
  return method
}

function boundField(desc: DescMessage, { field }: Variable): FieldPath {
  const path = findField(desc, field)
  if (path === undefined) throw new TypeError(`${desc.typeName} has no field "${field}"`)
  if (path.field.fieldKind !== 'scalar' && path.field.fieldKind !== 'enum')
    throw new TypeError(`"${field}" is repeated or a message and cannot be in the path`)
  return path
}

function topField(desc: DescMessage, name: string, what: string): DescField {
  const field = desc.fields.find((each) => each.name === name)
  if (field === undefined) throw new TypeError(`${what}: ${desc.typeName} has no field "${name}"`)
  return field
}
