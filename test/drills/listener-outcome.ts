import {
  createRegistry,
  type DescMethod,
  fromBinary,
  fromJson,
  fromJsonString,
  type JsonValue,
  type Message,
  toBinary,
  toJson,
} from '@bufbuild/protobuf'
import { Client, credentials, Metadata, type ServiceError, type StatusObject } from '@grpc/grpc-js'
import { Agent, request as httpRequest } from 'node:http'
import {
  BadRequestSchema,
  ErrorInfoSchema,
  PreconditionFailureSchema,
  RetryInfoSchema,
} from 'ashlar-annotations/google/rpc/error_details_pb.js'
import { type Status, StatusSchema } from 'ashlar-annotations/google/rpc/status_pb.js'
import { type SpelledCall } from './spell-http.js'

/** What came of a call, in words that are the same for both listeners. */
export interface ListenerOutcome {
  readonly code: number
  readonly message: string
  readonly details: JsonValue
  /** Proto3 JSON of what was answered, one for each message. */
  readonly answers: readonly JsonValue[]
  readonly etag: string
  readonly requestId: string
  readonly isReplay: boolean
}

type Headers = Readonly<Record<string, string | readonly string[]>>

const registry = createRegistry(BadRequestSchema, ErrorInfoSchema, PreconditionFailureSchema, RetryInfoSchema)

const failureOf = (status: Status): Pick<ListenerOutcome, 'code' | 'message' | 'details'> => ({
  code: status.code,
  message: status.message,
  details: (toJson(StatusSchema, status, { registry }) as { details?: JsonValue }).details ?? [],
})

const GRPC_OK = 0
/** Far beyond what any call takes: a listener that does not answer is a difference, not a test that hangs. */
const PATIENCE_MS = 5_000

/** Makes calls over gRPC, bytes in and bytes out. */
export class GrpcCaller {
  readonly #client: Client

  constructor(address: string) {
    this.#client = new Client(address, credentials.createInsecure())
  }

  call(method: DescMethod, request: Message, headers: Headers): Promise<ListenerOutcome> {
    const path = `/${method.parent.typeName}/${method.name}`
    const write = (message: Message) => Buffer.from(toBinary(method.input, message))
    const read = (bytes: Buffer): Message => fromBinary(method.output, bytes)
    const metadata = new Metadata()
    for (const [name, values] of Object.entries(headers))
      for (const value of [values].flat()) metadata.add(name, value)
    return new Promise((resolve) => {
      const answers: Message[] = []
      let received = new Metadata()
      const call =
        method.methodKind === 'unary'
          ? this.#client.makeUnaryRequest(
              path,
              write,
              read,
              request,
              metadata,
              { deadline: Date.now() + PATIENCE_MS },
              (_: ServiceError | null, answer) => {
                if (answer !== undefined) answers.push(answer)
              },
            )
          : this.#client
              .makeServerStreamRequest(path, write, read, request, metadata, {
                deadline: Date.now() + PATIENCE_MS,
              })
              .on('data', (answer: Message) => void answers.push(answer))
              .on('error', () => {})
      call.on('metadata', (one: Metadata) => (received = one))
      call.on('status', (status: StatusObject) =>
        setImmediate(() => resolve(this.#outcome(method, status, answers, received))),
      )
    })
  }

  close(): void {
    this.#client.close()
  }

  #outcome(
    method: DescMethod,
    { code, details: message, metadata: trailers }: StatusObject,
    answers: readonly Message[],
    headers: Metadata,
  ): ListenerOutcome {
    const [packed] = trailers.get('grpc-status-details-bin')
    const status = packed === undefined ? undefined : fromBinary(StatusSchema, packed as Buffer)
    const failure = status === undefined ? { code, message, details: [] } : failureOf(status)
    if (failure.code !== code || failure.message !== message)
      throw new TypeError(`grpc-status says ${code} ${message}, its details say ${JSON.stringify(failure)}`)
    return {
      ...(code === GRPC_OK ? { code, message: '', details: [] } : failure),
      answers: answers.map((answer) => toJson(method.output, answer)),
      etag: String(trailers.get('etag')[0] ?? ''),
      requestId: String([...headers.get('x-request-id'), ...trailers.get('x-request-id')][0] ?? ''),
      isReplay: headers.get('x-idempotent-replay')[0] === 'true',
    }
  }
}

/** As bytes would have carried it: a float read from JSON has more digits than a float has. */
const asSent = ({ output }: DescMethod, answer: Message): JsonValue =>
  toJson(output, fromBinary(output, toBinary(output, answer)))

/** HTTP status of each gRPC code, from the comments of google.rpc.Code. */
const HTTP_STATUS = [200, 499, 500, 400, 504, 404, 409, 403, 429, 400, 409, 400, 501, 500, 503, 500, 401]

/** Makes calls over HTTP, the path sent as it was spelled. */
export class HttpCaller {
  readonly #agent = new Agent({ keepAlive: true })
  readonly #port: number

  constructor(url: string) {
    this.#port = Number(new URL(url).port)
  }

  async call(method: DescMethod, spelled: SpelledCall, headers: Headers): Promise<ListenerOutcome> {
    const { status, headers: got, body } = await this.#send(spelled, headers)
    const contentType = String(got['content-type'])
    const etag = /^"(.*)"$/.exec(String(got['etag'] ?? ''))?.[1] ?? ''
    const common = {
      etag,
      requestId: String(got['x-request-id'] ?? ''),
      isReplay: got['x-idempotent-replay'] === 'true',
    }
    if (status !== 200) {
      const failure = failureOf(fromJsonString(StatusSchema, body.toString(), { registry }))
      const isEtag = JSON.stringify(failure.details).includes('"ETAG"')
      const expected = failure.code === 9 && isEtag ? 412 : HTTP_STATUS[failure.code]
      if (status !== expected)
        throw new TypeError(`${spelled.path}: HTTP ${status} with code ${failure.code}`)
      return { ...common, ...failure, answers: [] }
    }
    const [answers, failure] = contentType.includes('ndjson')
      ? lines(body.toString())
      : [[this.#answer(method, spelled, contentType, body)], undefined]
    const parsed = answers.map((answer) => asSent(method, fromJson(method.output, answer)))
    const end = failure === undefined ? { code: 0, message: '', details: [] } : failureOf(failure)
    return { ...common, ...end, answers: parsed }
  }

  close(): void {
    this.#agent.destroy()
  }

  #answer(method: DescMethod, { responseBody }: SpelledCall, contentType: string, body: Buffer): JsonValue {
    if (method.output.typeName === 'google.api.HttpBody')
      return { contentType, data: body.toString('base64') }
    const value = JSON.parse(body.toString()) as JsonValue
    return responseBody === '' ? value : { [responseBody]: value }
  }

  #send({ method, path, body }: SpelledCall, headers: Headers) {
    return new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: Buffer }>(
      (resolve, reject) => {
        const all: Record<string, string | string[]> = {}
        for (const [name, value] of Object.entries(headers))
          all[name] = typeof value === 'string' ? value : [...value]
        if (body !== undefined) all['content-type'] = 'application/json'
        const options = {
          agent: this.#agent,
          host: '127.0.0.1',
          port: this.#port,
          method,
          path,
          headers: all,
        }
        const sent = httpRequest(options, (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('error', reject)
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              body: Buffer.concat(chunks),
            }),
          )
        })
        sent.setTimeout(PATIENCE_MS, () => sent.destroy(new TypeError(`${method} ${path} got no response`)))
        sent.on('error', reject)
        sent.end(body)
      },
    )
  }
}

/** Newline-delimited JSON: results, and at most one error as the last. */
function lines(text: string): [JsonValue[], Status | undefined] {
  const all = text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { result?: JsonValue; error?: JsonValue })
  const last = all.at(-1)?.error
  return [
    all.flatMap(({ result }) => (result === undefined ? [] : [result])),
    last === undefined ? undefined : fromJson(StatusSchema, last, { registry }),
  ]
}
