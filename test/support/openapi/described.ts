import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject
export interface JsonObject {
  readonly [name: string]: JsonValue | undefined
}

export interface Operation {
  readonly operationId: string
  readonly method: string
  /** The path as written in the document, such as `/v1/widgets/{id}`. */
  readonly path: string
  /** The names of the path parameters. */
  readonly variables: readonly string[]
  /** The query parameters that are required. */
  readonly requiredQuery: readonly string[]
  readonly headers: readonly string[]
  readonly statuses: readonly string[]
  /** The example of the JSON body; undefined if there is none. */
  readonly example: JsonValue | undefined
  readonly hasBody: boolean
}

/**
 * An OpenAPI document to compare responses with. A field that the document does not define is a difference.
 */
export class Described {
  readonly document: JsonObject
  readonly operations: readonly Operation[]
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true })
  readonly #validators = new Map<string, ValidateFunction>()

  constructor(text: string) {
    this.document = JSON.parse(text) as JsonObject
    formats(this.#ajv)
    this.#ajv.addFormat('uint64', /^[0-9]+$/).addFormat('field-mask', true)
    this.#ajv.addSchema({ $id: 'document', ...(closed(this.document) as object) })
    this.operations = operationsIn(this)
  }

  at(pointer: string): JsonObject {
    let part: JsonValue | undefined = this.document
    for (const name of pointer.split('/').slice(1)) part = (part as JsonObject)[unescaped(name)]
    const { $ref } = part as { $ref?: string }
    return $ref === undefined ? (part as JsonObject) : this.at($ref.slice(1))
  }

  operation(id: string): Operation {
    const found = this.operations.find(
      ({ operationId }) => operationId === id || operationId.endsWith(`.${id}`),
    )
    if (found === undefined) throw new Error(`the document has no operation ${id}`)
    return found
  }

  /** Returns the JSON pointer of the schema of an operation's body. */
  requestOf({ method, path }: Operation): string {
    return `/paths/${escaped(path)}/${method.toLowerCase()}/requestBody/content/application~1json/schema`
  }

  /** Returns the differences between a response and the document, one message each. */
  problems(
    { method, path }: Operation,
    status: number,
    contentType: string,
    body: unknown,
  ): readonly string[] {
    const responses = `/paths/${escaped(path)}/${method.toLowerCase()}/responses`
    const own = this.at(responses)
    const key = Object.hasOwn(own, String(status)) ? String(status) : 'default'
    if (key === 'default' && status < 400) return [`has status ${status}, which the operation does not name`]
    const { content } = this.at(`${responses}/${key}`) as { content?: JsonObject }
    if (content === undefined) return body === undefined ? [] : ['has a body, and the document none']
    const range = Object.hasOwn(content, '*/*') ? '*/*' : contentType
    if (!Object.hasOwn(content, range))
      return [`is ${contentType}, and in the document ${Object.keys(content).join()}`]
    if ((content[range] as JsonObject)['schema'] === undefined) return []
    const { $ref } = own[key] as { $ref?: string }
    const base = $ref === undefined ? `${responses}/${key}` : $ref.slice(1)
    return this.check(`${base}/content/${escaped(range)}/schema`, body)
  }

  /** Returns the errors of a value against the schema at a JSON pointer, one message each. */
  check(pointer: string, value: unknown): readonly string[] {
    let validate = this.#validators.get(pointer)
    if (validate === undefined) {
      validate = this.#ajv.compile({ $ref: `document#${encodeURI(pointer)}` })
      this.#validators.set(pointer, validate)
    }
    if (validate(value) === true) return []
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath} ${message ?? ''} ${JSON.stringify(params)}`,
    )
  }
}

const METHODS = new Set(['get', 'put', 'post', 'delete', 'patch'])

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
}

function operationsIn(described: Described): readonly Operation[] {
  return Object.entries(described.at('/paths')).flatMap(([path, item]) =>
    Object.keys(item as JsonObject)
      .filter((method) => METHODS.has(method))
      .map((method): Operation => {
        const at = `/paths/${escaped(path)}/${method}`
        const { operationId, parameters, responses, requestBody } = described.at(at) as {
          operationId: string
          parameters: readonly JsonObject[]
          responses: JsonObject
          requestBody?: { content: Record<string, { example?: JsonValue }> }
        }
        const all = parameters.map((_, index) =>
          described.at(`${at}/parameters/${index}`),
        ) as unknown as readonly Parameter[]
        const named = (where: string) => all.filter((one) => one.in === where)
        return {
          operationId,
          method: method.toUpperCase(),
          path,
          variables: named('path').map(({ name }) => name),
          requiredQuery: named('query')
            .filter(({ required }) => required === true)
            .map(({ name }) => name),
          headers: named('header').map(({ name }) => name),
          statuses: Object.keys(responses),
          example: requestBody?.content['application/json']?.example,
          hasBody: requestBody !== undefined,
        }
      }),
  )
}

/** Returns the document with every object schema closed, so that undefined properties are errors. */
function closed(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(closed)
  if (typeof part !== 'object' || part === null) return part
  const open = Object.fromEntries(Object.entries(part).map(([name, value]) => [name, closed(value)]))
  const isObject =
    open['type'] === 'object' && open['additionalProperties'] === undefined && open['$ref'] === undefined
  return isObject ? { ...open, additionalProperties: false } : open
}

export const escaped = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')
const unescaped = (name: string): string => name.replaceAll('~1', '/').replaceAll('~0', '~')
