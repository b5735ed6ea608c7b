import { expect } from 'chai'
import { EmptySchema } from '@bufbuild/protobuf/wkt'
import { create } from '@bufbuild/protobuf'
import { ServerBuilder } from '../../lib/server/server-builder.js'
import type { Server } from '../../lib/server/server.js'
import { EchoService, UndeclaredService } from '../support/gen/specimens_pb.js'
import { partly, recordingLogger } from '../support/server.js'

const LURK = '/specimens.v1.UndeclaredService/Lurk'

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

describe('the boot-time gate', () => {
  it('names every undeclared method and binds nothing', async () => {
    const server = undeclared().build()
    expect(await refusal(server)).to.equal(`authz: 1 method(s) undeclared: [${LURK}]`)
    expect(server.grpcAddr()).to.equal('')
    expect(await server.ready().catch((error: Error) => error.message)).to.match(/^authz: 1 method/)
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
      /\{zone_id\} is no plain field/,
    ],
  ]
  for (const [name, rule, text] of rows)
    it(`refuses ${name}`, async () => {
      expect(
        await refusal(
          undeclared()
            .rules(rule as never)
            .build(),
        ),
      ).to.match(text)
    })

  it('refuses two rules of a method that disagree', async () => {
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

  it('takes two rules of a method that agree', async () => {
    const rule = { method: LURK, verb: 'get', resource: 'shadow' }
    expect(
      await refusal(
        undeclared()
          .rules(rule, { ...rule })
          .build(),
      ),
    ).to.equal('served')
  })

  it('counts methods that were only recorded', async () => {
    const server = builder().build()
    server.recordMethods('/other.v1.Foreign/Call')
    expect(await refusal(server)).to.equal('authz: 1 method(s) undeclared: [/other.v1.Foreign/Call]')
  })

  it('lets rules that were added later declare a method', async () => {
    const server = undeclared().build()
    server.addRules({ method: LURK, public: true })
    expect(await refusal(server)).to.equal('served')
    expect(server.rules()).to.deep.include({ method: LURK, public: true })
  })

  it('refuses a service that lacks an implementation, naming the method', async () => {
    const server = builder()
      .register(EchoService, { echo: () => ({}) } as never)
      .build()
    expect(await refusal(server)).to.match(/EchoService\.Ping has no implementation: give ping\(\)/)
  })

  it('refuses a service that is registered twice', async () => {
    const once = partly(EchoService, {})
    const server = builder().register(EchoService, once).register(EchoService, once).build()
    expect(await refusal(server)).to.match(/specimens\.v1\.EchoService is registered twice/)
  })

  it('refuses a reference whose target nobody answers', async () => {
    const server = builder().build()
    server.recordReferences({ field: 'a.v1.Part.widget', target: 'widget' })
    expect(await refusal(server)).to.match(/a\.v1\.Part\.widget refers to widget/)
  })

  const reachable: readonly (readonly [string, (server: ReturnType<ServerBuilder['build']>) => void])[] = [
    ['in batches', (server) => server.recordBatchTarget('widget')],
    ['by another process', (server) => server.recordExternalReferenceTarget('widget', '127.0.0.1:1')],
  ]
  for (const [name, record] of reachable)
    it(`takes a reference whose target is answered ${name}`, async () => {
      const server = builder().build()
      server.recordReferences({ field: 'a.v1.Part.widget', target: 'widget' })
      record(server)
      expect(await refusal(server)).to.equal('served')
      expect(server.references()).to.deep.equal([{ field: 'a.v1.Part.widget', target: 'widget' }])
    })
})
