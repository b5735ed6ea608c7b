import { expect } from 'chai'
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Column, Entity, PrimaryColumn } from 'typeorm'
import { Resource, TenantScoped } from '../../decorators/index.js'
import { AshlarError, DeclarationError, ErrConflict, ErrNotFound } from '../../lib/errors.js'
import { memoryRepositoryOf } from '../../lib/persistence/repository-of.js'
import { resourceModel } from '../../lib/resource/model-of.js'
import { EchoService } from '../support/gen/specimens_pb.js'
import { ForeignClient } from '../support/grpc/clients.js'
import { rejection } from '../support/rejection.js'
import { compiled, root } from '../support/root.js'
import { ALICE, partly, post, startServer } from '../support/servers/server.js'

type Decorators = Pick<typeof import('../../decorators/index.js'), 'Resource' | 'TenantScoped'>

describe('another copy of ashlar in the process', () => {
  let folder: string
  let errors: typeof import('../../lib/errors.js')
  let decorators: Decorators
  let repositories: typeof import('../../lib/persistence/repository-of.js')

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ashlar-copy-'))
    for (const part of ['lib', 'decorators'])
      cpSync(join(compiled, part), join(folder, 'dist', part), { recursive: true })
    cpSync(join(root, 'package.json'), join(folder, 'package.json'))
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    const load = <T>(path: string) => import(pathToFileURL(join(folder, 'dist', path)).href) as Promise<T>
    errors = await load('lib/errors.js')
    decorators = await load('decorators/index.js')
    repositories = await load('lib/persistence/repository-of.js')
  })
  after(() => rmSync(folder, { recursive: true }))

  const gadget = ({ Resource: resource, TenantScoped: scoped }: Decorators) => {
    @resource()
    @Entity('gadgets')
    @scoped()
    class Gadget {
      @PrimaryColumn({ length: 40 }) id!: string
      accountId!: string
      @Column({ length: 40 }) title!: string
    }
    return Gadget
  }
  const refusal = (work: () => unknown) => {
    try {
      work()
    } catch (error) {
      expect(error).to.be.instanceOf(DeclarationError)
      return (error as Error).message
    }
    return 'accepted'
  }

  it('has errors that are of the same classes here', () => {
    const missing = new errors.ErrNotFound()
    expect(missing).to.be.instanceOf(ErrNotFound).and.instanceOf(AshlarError)
    expect(missing instanceof ErrConflict).to.equal(false)
    class Missing extends errors.ErrNotFound {}
    expect(new Missing()).to.be.instanceOf(ErrNotFound)
    class Own extends ErrNotFound {}
    expect(new ErrNotFound() instanceof Own).to.equal(false)
  })

  it('keeps the code of an error that a handler throws, over gRPC and HTTP', async () => {
    const echo = () => Promise.reject(new errors.AshlarError('NOT_FOUND', 'no such thing'))
    const running = await startServer((builder) =>
      builder.register(EchoService, partly(EchoService, { echo })),
    )
    const client = new ForeignClient(EchoService, running.grpc)
    const { code, details } = await client.unary('Echo', {}, ALICE)
    expect([code, details]).to.deep.equal([5, 'no such thing'])
    expect((await fetch(`${running.http}/v1/echo`, post(ALICE, {}))).status).to.equal(404)
    client.close()
    await running.stop()
  })

  it('declares no entity here: the error names both folders', () => {
    for (const said of [
      refusal(() => resourceModel(gadget(decorators))),
      refusal(() => resourceModel(gadget({ Resource, TenantScoped: decorators.TenantScoped }))),
      refusal(() => resourceModel(gadget({ Resource: decorators.Resource, TenantScoped }))),
    ])
      expect(said).to.include(folder).and.include(root)
    expect(refusal(() => resourceModel(gadget({ Resource, TenantScoped })))).to.equal('accepted')
  })

  it('has no repository that a server here registers: the error names both folders', async () => {
    const repository = new (repositories.memoryRepositoryOf(gadget(decorators)))()
    const error = await rejection(
      startServer((builder) => builder.register(EchoService, repository as never)),
      DeclarationError,
    )
    expect(error.message).to.include(folder).and.include(root)
    expect(new (memoryRepositoryOf(gadget({ Resource, TenantScoped })))()).to.have.property('model')
  })
})
