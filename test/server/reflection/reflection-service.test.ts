import { create, type DescService, fromBinary, toBinary } from '@bufbuild/protobuf'
import {
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from '@bufbuild/protobuf/wkt'
import * as grpc from '@grpc/grpc-js'
import { fromJSON, loadFileDescriptorSetFromBuffer, type PackageDefinition } from '@grpc/proto-loader'
import { expect } from 'chai'
import { ServerReflection } from '../../../lib/gen/grpc/reflection/v1/reflection_pb.js'
import { reflectionServices } from '../../../lib/server/reflection/reflection-service.js'
import { EchoService, SpecimenService } from '../../support/gen/specimens_pb.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { ALICE, partly, type RunningServer, startServer } from '../../support/servers/server.js'
import { echoService } from '../../support/grpc/echo.js'

type Fields = Readonly<Record<string, unknown>>

/** The protocol as its public documentation gives it, so that both ends do not share one mistake. */
const protocolOf = (version: string): PackageDefinition => {
  const string = (id: number) => ({ type: 'string', id })
  const message = (...fields: readonly (readonly [string, string, number, string?])[]) => ({
    fields: Object.fromEntries(
      fields.map(([name, type, id, rule]) => [name, { type, id, ...(rule && { rule }) }]),
    ),
  })
  const nested = {
    ServerReflectionRequest: {
      fields: {
        host: string(1),
        file_by_filename: string(3),
        file_containing_symbol: string(4),
        file_containing_extension: { type: 'ExtensionRequest', id: 5 },
        all_extension_numbers_of_type: string(6),
        list_services: string(7),
      },
      oneofs: {
        message_request: {
          oneof: [
            'file_by_filename',
            'file_containing_symbol',
            'file_containing_extension',
            'all_extension_numbers_of_type',
            'list_services',
          ],
        },
      },
    },
    ExtensionRequest: message(['containing_type', 'string', 1], ['extension_number', 'int32', 2]),
    ServerReflectionResponse: message(
      ['valid_host', 'string', 1],
      ['original_request', 'ServerReflectionRequest', 2],
      ['file_descriptor_response', 'FileDescriptorResponse', 4],
      ['all_extension_numbers_response', 'ExtensionNumberResponse', 5],
      ['list_services_response', 'ListServiceResponse', 6],
      ['error_response', 'ErrorResponse', 7],
    ),
    FileDescriptorResponse: message(['file_descriptor_proto', 'bytes', 1, 'repeated']),
    ExtensionNumberResponse: message(
      ['base_type_name', 'string', 1],
      ['extension_number', 'int32', 2, 'repeated'],
    ),
    ListServiceResponse: message(['service', 'ServiceResponse', 1, 'repeated']),
    ServiceResponse: message(['name', 'string', 1]),
    ErrorResponse: message(['error_code', 'int32', 1], ['error_message', 'string', 2]),
    ServerReflection: {
      methods: {
        ServerReflectionInfo: {
          requestType: 'ServerReflectionRequest',
          requestStream: true,
          responseType: 'ServerReflectionResponse',
          responseStream: true,
        },
      },
    },
  }
  const json = {
    nested: { grpc: { nested: { reflection: { nested: { [version]: { nested } } } } } },
  }
  return fromJSON(json as never, { keepCase: true })
}

type Loaded = Record<string, never>

const clientOf = (definition: PackageDefinition, name: string, address: string) => {
  const Constructor = name
    .split('.')
    .reduce(
      (at, part) => at[part] as never,
      grpc.loadPackageDefinition(definition) as unknown as Loaded,
    ) as unknown as grpc.ServiceClientConstructor
  return new Constructor(address, grpc.credentials.createInsecure())
}

/** A tool of the kind of grpcurl: it knows nothing but the protocol and an address. */
class Explorer {
  readonly #client: grpc.Client & Record<string, () => grpc.ClientDuplexStream<object, Fields>>

  constructor(
    readonly address: string,
    version: string,
  ) {
    const name = `grpc.reflection.${version}.ServerReflection`
    this.#client = clientOf(protocolOf(version), name, address) as never
  }

  /** Asks in one stream; the code is that of its end. */
  async ask(...requests: readonly Fields[]): Promise<{ answers: readonly Fields[]; code: number }> {
    const call = this.#client['ServerReflectionInfo']?.() as grpc.ClientDuplexStream<object, Fields>
    const answers: Fields[] = []
    call.on('data', (answer: Fields) => answers.push(answer))
    call.on('error', () => {})
    const ended = new Promise<number>((resolve) =>
      call.on('status', ({ code }: grpc.StatusObject) => setImmediate(() => resolve(code))),
    )
    for (const request of requests) call.write(request)
    call.end()
    return { code: await ended, answers }
  }

  async services(): Promise<readonly string[]> {
    const { answers } = await this.ask({ list_services: '*' })
    const { service } = answers[0]?.['list_services_response'] as { service: readonly { name: string }[] }
    return service.map(({ name }) => name)
  }

  async files(request: Fields): Promise<readonly FileDescriptorProto[]> {
    const { answers } = await this.ask(request)
    return filesIn(answers[0])
  }

  /**
   * The definition of a service, from descriptors that came through reflection, each import asked for by
   * name.
   */
  async definitionOf(service: string): Promise<PackageDefinition> {
    const files = new Map<string, FileDescriptorProto>()
    const take = (found: readonly FileDescriptorProto[]) =>
      found.forEach((file) => files.set(file.name, file))
    take((await this.files({ file_containing_symbol: service })).slice(0, 1))
    for (;;) {
      const missing = [...files.values()]
        .flatMap(({ dependency }) => dependency)
        .find((name) => !files.has(name))
      if (missing === undefined) break
      take((await this.files({ file_by_filename: missing })).slice(0, 1))
    }
    const set = create(FileDescriptorSetSchema, { file: [...files.values()] })
    return loadFileDescriptorSetFromBuffer(Buffer.from(toBinary(FileDescriptorSetSchema, set)), {
      keepCase: true,
      defaults: true,
    })
  }

  close(): void {
    this.#client.close()
  }
}

const filesIn = (answer: Fields | undefined): readonly FileDescriptorProto[] => {
  const response = answer?.['file_descriptor_response'] as { file_descriptor_proto: Buffer[] } | undefined
  return (response?.file_descriptor_proto ?? []).map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes))
}

describe('reflection', () => {
  let running: RunningServer
  const register = (builder: { register(service: DescService, implementation: object): unknown }) => {
    builder.register(EchoService, echoService)
    builder.register(SpecimenService, partly(SpecimenService, {}))
  }

  before(async () => {
    running = await startServer(register as never, { reflection: true })
  })
  after(() => running.stop())

  for (const version of ['v1', 'v1alpha'])
    describe(version, () => {
      let explorer: Explorer
      before(() => (explorer = new Explorer(running.grpc, version)))
      after(() => explorer.close())

      it('lists what is served, itself included, to somebody without an identity', async () => {
        expect([...(await explorer.services())].sort()).to.deep.equal([
          'grpc.health.v1.Health',
          'grpc.reflection.v1.ServerReflection',
          'grpc.reflection.v1alpha.ServerReflection',
          'specimens.v1.EchoService',
          'specimens.v1.SpecimenService',
        ])
      })

      it('describes every service so that it can be loaded, with every import found by its name', async () => {
        const services = await explorer.services()
        expect(services).to.have.length(5)
        for (const service of services)
          expect(Object.keys(await explorer.definitionOf(service))).to.include(service)
      })

      it('is enough to call a method', async () => {
        const definition = await explorer.definitionOf('specimens.v1.EchoService')
        const client = clientOf(definition, 'specimens.v1.EchoService', running.grpc) as never as {
          Echo(request: object, metadata: grpc.Metadata, done: (error: unknown, answer: Fields) => void): void
          close(): void
        }
        const metadata = new grpc.Metadata()
        for (const [name, value] of Object.entries(ALICE)) metadata.set(name, value)
        const answer = await new Promise<Fields>((resolve, reject) =>
          client.Echo({ text: 'found', words: ['a'] }, metadata, (error, got) =>
            error === null ? resolve(got) : reject(error as Error),
          ),
        )
        client.close()
        expect(answer['text']).to.equal('found')
        expect((answer['request'] as Fields)['words']).to.deep.equal(['a'])
      })

      for (const symbol of [
        'specimens.v1.EchoService',
        'specimens.v1.EchoService.Chat',
        'specimens.v1.Specimen',
        'specimens.v1.Specimen.title',
        'specimens.v1.Specimen.Phase',
        'specimens.v1.Specimen.RAW',
        'specimens.v1.EchoRequest.choice',
      ])
        it(`finds the file of ${symbol}`, async () => {
          const [file] = await explorer.files({ file_containing_symbol: symbol })
          expect(file?.package).to.equal('specimens.v1')
        })

      it('finds the files of extensions, nested types of imports and well-known types', async () => {
        const rows: readonly (readonly [Fields, string])[] = [
          [{ file_containing_symbol: 'ashlar.api.v1.rule' }, 'ashlar/api/v1/annotations.proto'],
          [{ file_containing_symbol: 'google.api.HttpRule' }, 'google/api/http.proto'],
          [{ file_containing_symbol: 'google.protobuf.Empty' }, 'google/protobuf/empty.proto'],
          [{ file_containing_symbol: 'google.rpc.BadRequest' }, 'google/rpc/error_details.proto'],
          [{ file_containing_symbol: 'google.rpc.Status' }, 'google/rpc/status.proto'],
          [
            {
              file_containing_extension: {
                containing_type: 'google.protobuf.MethodOptions',
                extension_number: 68431,
              },
            },
            'ashlar/api/v1/annotations.proto',
          ],
        ]
        for (const [request, name] of rows) expect((await explorer.files(request))[0]?.name).to.equal(name)
      })

      it('sends a file with what it imports, and in one stream each import once', async () => {
        const [first, second] = (
          await explorer.ask(
            { file_containing_symbol: 'specimens.v1.EchoService' },
            { file_containing_symbol: 'specimens.v1.Specimen' },
          )
        ).answers.map(filesIn)
        const names = first?.map(({ name }) => name) ?? []
        expect(names).to.include.members(['google/api/http.proto', 'google/protobuf/descriptor.proto'])
        expect(new Set(names).size).to.equal(names.length)
        expect(second?.map(({ name }) => name)).to.deep.equal([names[0]])
      })

      it('keeps the options of methods and fields', async () => {
        const [file] = await explorer.files({ file_containing_symbol: 'specimens.v1.EchoService' })
        const served = EchoService.file.proto
        expect(toBinary(FileDescriptorProtoSchema, file as FileDescriptorProto)).to.deep.equal(
          toBinary(FileDescriptorProtoSchema, served),
        )
      })

      it('knows the numbers of extensions', async () => {
        const { answers } = await explorer.ask(
          { all_extension_numbers_of_type: 'google.protobuf.MethodOptions' },
          { all_extension_numbers_of_type: 'specimens.v1.Specimen' },
        )
        const [options, none] = answers.map((answer) => answer['all_extension_numbers_response'] as Fields)
        expect(options?.['extension_number']).to.include.members([68431, 72295728])
        expect(none).to.deep.equal({ base_type_name: 'specimens.v1.Specimen' })
      })

      it('returns NotFound in the stream, and goes on', async () => {
        const { answers, code } = await explorer.ask(
          { file_containing_symbol: 'specimens.v1.Nothing' },
          { file_by_filename: 'etc/passwd' },
          { file_containing_extension: { containing_type: 'specimens.v1.Specimen', extension_number: 1 } },
          { all_extension_numbers_of_type: 'nobody' },
          { host: 'h', list_services: '' },
        )
        expect(code).to.equal(0)
        expect(
          answers.slice(0, 4).map((answer) => (answer['error_response'] as Fields)['error_code']),
        ).to.deep.equal([5, 5, 5, 5])
        expect(answers[4]?.['valid_host']).to.equal('h')
        expect(answers[0]?.['original_request']).to.deep.equal({
          file_containing_symbol: 'specimens.v1.Nothing',
        })
      })

      it('refuses to be asked nothing', async () => {
        expect((await explorer.ask({})).code).to.equal(3)
      })

      it('repeats no text that is longer than a name', async () => {
        const long = 'a'.repeat(1025)
        for (const request of [
          { file_containing_symbol: long },
          { file_by_filename: long },
          { file_containing_extension: { containing_type: long, extension_number: 1 } },
          { all_extension_numbers_of_type: long },
          { host: long, list_services: '' },
        ]) {
          const { answers, code } = await explorer.ask(request)
          expect([answers.length, code]).to.deep.equal([0, 3])
        }
      })
    })

  for (const [environment, config, code] of [
    ['production', { allowDevelopment: true }, 12],
    [undefined, { allowDevelopment: true }, 12],
    ['development', {}, 0],
    ['test', {}, 0],
    ['development', { reflection: false }, 12],
    ['production', { allowDevelopment: true, reflection: true }, 0],
  ] as const)
    it(`${code === 0 ? 'is' : 'is not'} there where NODE_ENV is ${environment}, with ${JSON.stringify(config)}`, async () => {
      const before = process.env['NODE_ENV']
      setEnvironment(environment)
      try {
        const plain = await startServer(register as never, config)
        for (const service of reflectionServices) {
          const client = new ForeignClient(service, plain.grpc)
          expect((await client.stream('ServerReflectionInfo', [{ list_services: '' }])).code).to.equal(code)
          client.close()
        }
        await plain.stop()
      } finally {
        setEnvironment(before)
      }
    })

  it('of one’s own is refused in production, where nobody set reflection', async () => {
    const environment = process.env['NODE_ENV']
    process.env['NODE_ENV'] = 'production'
    try {
      const started = startServer(
        (builder) => {
          builder.register(ServerReflection, { serverReflectionInfo: async function* () {} } as never)
          builder.rules({
            method: '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo',
            public: true,
          })
        },
        { allowDevelopment: false, authorizer: undefined, principalFunc: undefined } as never,
      )
      expect(await started.catch((error: Error) => error.message)).to.match(
        /reveals the served services to everyone/,
      )
    } finally {
      setEnvironment(environment)
    }
  })
})

const setEnvironment = (environment: string | undefined): void => {
  if (environment === undefined) delete process.env['NODE_ENV']
  else process.env['NODE_ENV'] = environment
}
