import { expect } from 'chai'
import { EmptySchema } from '@bufbuild/protobuf/wkt'
import { create, type DescService } from '@bufbuild/protobuf'
import { WidgetService } from '../../../examples/widgets/gen/widgets_pb.js'
import type { DeclarationError } from '../../../lib/errors.js'
import { type Undeclared, undeclaredError } from '../../../lib/server/authz/missing-rules.js'
import { ruleFindings } from '../../../lib/server/authz/start-up-check.js'
import { pathOf } from '../../../lib/server/chain/method.js'
import { RuleSet } from '../../../lib/server/authz/rules.js'
import { ServerBuilder } from '../../../lib/server/server-builder.js'
import type { Server } from '../../../lib/server/server.js'
import { EchoService, UndeclaredService } from '../../support/gen/specimens_pb.js'
import { partly, recordingLogger } from '../../support/servers/server.js'

const LURK = '/specimens.v1.UndeclaredService/Lurk'

const HOW =
  '  write it inside the rpc, with import "ashlar/api/v1/annotations.proto", and generate the code again; { public: true } lets anyone call it. A rule can also be given in code, with addRules({ method, verb, resource })'

const builder = () => new ServerBuilder({ grpcAddr: '127.0.0.1:0', logger: recordingLogger() })

const undeclared = () => builder().register(UndeclaredService, { lurk: () => create(EmptySchema) })

async function refusal(server: Server): Promise<string> {
  const controller = new AbortController()
  const served = server.serve(controller.signal)
  try {
    await Promise.race([server.ready(), served])
    controller.abort()
    await served
    return 'served'
  } catch (error) {
    return (error as Error).message
  }
}

const adviceOf = (method: Undeclared): string =>
  /\{ verb: .*? \}/.exec(undeclaredError([method]).message)?.[0] ?? ''

describe('the startup check', () => {
  it('names every undeclared method and binds nothing', async () => {
    const server = undeclared().build()
    const [first] = (await refusal(server)).split('\n')
    expect(first).to.equal(`authz: 1 method(s) undeclared: [${LURK}]`)
    expect(server.grpcAddr()).to.equal('')
    const error = (await server.ready().catch((found: unknown) => found)) as DeclarationError
    expect(error.message).to.match(/^authz: 1 method/)
    expect(error.values).to.have.length(1)
    expect(error.values[0]).to.include({ kind: 'rule', method: LURK })
  })

  it('writes acronyms as field names do', () => {
    const of = (name: string) =>
      adviceOf({
        path: `/a.v1.A/${name}`,
        desc: { ...WidgetService.method.getWidget, name, output: EmptySchema, input: EmptySchema } as never,
        resourceType: undefined,
      })
    expect([of('GetHTTPRoute'), of('PurgeURL'), of('HTTPCheck')]).to.deep.equal([
      '{ verb: "get", resource: "http_route" }',
      '{ verb: "purge", resource: "url" }',
      '{ verb: "http", resource: "check" }',
    ])
  })

  const rows: readonly (readonly [string, object, RegExp])[] = [
    [
      'a rule with neither verb nor public',
      { method: LURK, resource: 'shadow' },
      /^authz: 1 method\(s\) undeclared/,
    ],
    [
      'a rule with an empty verb',
      { method: LURK, verb: '', public: false },
      /^authz: 1 method\(s\) undeclared/,
    ],
    [
      'a template that names no field',
      { method: LURK, verb: 'get', resource: 'zone:{zone_id}' },
      /\{zone_id\} is not a plain field/,
    ],
    [
      'a template without its closing brace',
      { method: LURK, verb: 'get', resource: 'zone:{zone_id' },
      /UndeclaredService\/Lurk: resource "zone:\{zone_id": character 6: "\{" is never closed/,
    ],
    [
      'a template without its opening brace',
      { method: LURK, verb: 'get', resource: 'zone:zone_id}' },
      /UndeclaredService\/Lurk: resource "zone:zone_id\}": character 13: "\}" closes nothing/,
    ],
    [
      'a template with a variable in a variable',
      { method: LURK, verb: 'get', resource: 'zone:{a{b}}' },
      /character 6: "\{" is never closed/,
    ],
    [
      'a template with an empty variable',
      { method: LURK, verb: 'get', resource: 'zone:{}' },
      /\{\} names no field: write \{field\}/,
    ],
  ]
  for (const [name, rule, text] of rows)
    it(`rejects ${name}`, async () => {
      expect(
        await refusal(
          undeclared()
            .rules(rule as never)
            .build(),
        ),
      ).to.match(text)
    })

  it('rejects two different rules of a method', async () => {
    const rules = [
      { method: LURK, verb: 'get' },
      { method: LURK, public: true },
    ]
    expect(
      await refusal(
        undeclared()
          .rules(...rules)
          .build(),
      ),
    ).to.match(/get and public contradict each other/)
  })

  it('accepts two equal rules of a method', async () => {
    const rule = { method: LURK, verb: 'get', resource: 'shadow' }
    expect(
      await refusal(
        undeclared()
          .rules(rule, { ...rule })
          .build(),
      ),
    ).to.equal('served')
  })

  it('names the option to add to the .proto', async () => {
    expect(await refusal(undeclared().build())).to.equal(
      [
        `authz: 1 method(s) undeclared: [${LURK}]`,
        '  - rpc Lurk of specimens.v1.UndeclaredService: option (ashlar.api.v1.rule) = { verb: "lurk", resource: "undeclared_service" };',
        HOW,
      ].join('\n'),
    )
  })

  it('suggests the verb and resource for standard methods', async () => {
    const bare: DescService = { ...WidgetService, typeName: 'bare.v1.WidgetService' }
    const methods = WidgetService.methods.map((desc) => ({ ...desc, parent: bare }))
    const rules = new RuleSet()
    const told = (resourceType?: string): readonly string[] => {
      const byPath = new Map(methods.map((desc) => [pathOf(desc), desc]))
      const { undeclared: found } = ruleFindings(byPath, [], rules, () => resourceType)
      return undeclaredError(found).message.split('\n').slice(1, -1)
    }
    const rule = (name: string, verb: string, resource = 'widget') =>
      `  - rpc ${name} of bare.v1.WidgetService: option (ashlar.api.v1.rule) = { verb: "${verb}", resource: "${resource}" };`
    expect(told()).to.deep.equal([
      rule('BatchDeleteWidgets', 'delete'),
      rule('BatchGetWidgets', 'get'),
      rule('BatchUpdateWidgets', 'update'),
      rule('CreateWidget', 'create'),
      rule('DeleteWidget', 'delete'),
      rule('GetWidget', 'get'),
      rule('ListWidgets', 'list'),
      rule('RetireWidget', 'retire'),
      rule('UndeleteWidget', 'undelete'),
      rule('UpdateWidget', 'update'),
    ])
    expect(told('gadget')[0]).to.equal(rule('BatchDeleteWidgets', 'delete', 'gadget'))
  })

  it('shows twenty methods and counts the rest', async () => {
    const server = builder().build()
    server.recordMethods(...Array.from({ length: 25 }, (_, n) => `/other.v1.Foreign/Call${n + 10}`))
    const lines = (await refusal(server)).split('\n')
    expect(lines).to.have.length(22)
    expect(lines[0]).to.match(/Call10, .*Call34\]$/)
    expect(lines.at(-1)).to.equal('  - and 5 more')
  })

  it('counts methods that were only recorded', async () => {
    const server = builder().build()
    server.recordMethods('/other.v1.Foreign/Call')
    expect(await refusal(server)).to.equal(
      [
        'authz: 1 method(s) undeclared: [/other.v1.Foreign/Call]',
        "  - /other.v1.Foreign/Call was only recorded: use addRules({ method: '/other.v1.Foreign/Call', verb: 'get', resource: 'widget' }) with its own verb and resource",
      ].join('\n'),
    )
  })

  it('accepts rules that were added later', async () => {
    const server = undeclared().build()
    server.addRules({ method: LURK, public: true })
    expect(await refusal(server)).to.equal('served')
    expect(server.rules()).to.deep.include({ method: LURK, public: true })
  })

  it('rejects a service that lacks an implementation, and names the method', async () => {
    const server = builder()
      .register(EchoService, { echo: () => ({}) } as never)
      .build()
    expect(await refusal(server)).to.match(/EchoService\.Ping has no implementation: add ping\(\)/)
  })

  it('rejects a service that is registered twice', async () => {
    const once = partly(EchoService, {})
    const server = builder().register(EchoService, once).register(EchoService, once).build()
    expect(await refusal(server)).to.match(/specimens\.v1\.EchoService is registered twice/)
  })

  for (const address of ['', 'stock', 'http://stock:9090', 'stock:', ':9090', 'stock:9090/', 'a b:1'])
    it(`rejects ${JSON.stringify(address)} as the address of an external reference target`, async () => {
      const server = builder().build()
      server.recordExternalReferenceTarget('widget', address)
      expect(await refusal(server)).to.contain(
        `the address "${address}" of the external reference target widget is not host:port`,
      )
    })

  const reachable: readonly (readonly [string, (server: ReturnType<ServerBuilder['build']>) => void])[] = [
    ['in batches', (server) => server.recordBatchTarget('widget')],
    ['by another process', (server) => server.recordExternalReferenceTarget('widget', '127.0.0.1:1')],
    ['by another host', (server) => server.recordExternalReferenceTarget('widget', 'stock.internal:9090')],
    ['over IPv6', (server) => server.recordExternalReferenceTarget('widget', '[::1]:9090')],
    ['at an address not yet known', (server) => server.recordExternalReferenceTarget('widget')],
  ]
  for (const [name, record] of reachable)
    it(`accepts a reference whose target is served ${name}`, async () => {
      const server = builder().build()
      server.recordReferences({ field: 'a.v1.Part.widget', target: 'widget' })
      record(server)
      expect(await refusal(server)).to.equal('served')
      expect(server.references()).to.deep.equal([{ field: 'a.v1.Part.widget', target: 'widget' }])
    })
})
