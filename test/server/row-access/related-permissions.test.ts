import { expect } from 'chai'
import { MemoryDatabase } from '../../../lib/persistence/memory/memory-database.js'
import { memoryRepositoryOf } from '../../../lib/persistence/repository-of.js'
import { withTenant } from '../../../lib/testing/index.js'
import { roleAuthorizer } from '../../../lib/server/authz/role-authorizer.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import {
  BulkService,
  Folder,
  FolderService,
  folderRules,
  Mark,
  Paper,
} from '../../support/servers/folders.js'
import { startServer } from '../../support/servers/server.js'

/** No service has papers and marks: the server asks about them because of their relations alone. */
describe('roles of a server whose deletes take other resources along', () => {
  const open = async (
    permissions: readonly { readonly verbs: readonly string[]; readonly resource: string }[],
    { service = FolderService, decidesByRow = false } = {},
  ) => {
    const database = new MemoryDatabase()
    const folders = new (memoryRepositoryOf(Folder))({ database })
    const papers = new (memoryRepositoryOf(Paper))({ database })
    const marks = new (memoryRepositoryOf(Mark))({ database })
    const roles = roleAuthorizer({
      roles: { keeper: [...permissions] },
      bindings: [{ tenant: 'acme', subjects: ['alice'], roles: ['keeper'] }],
    })
    const running = await startServer((builder) => builder.register(service, folders as never), {
      rules: folderRules,
      authorizer: {
        decidesByRow,
        authorize: (request) => roles.authorize(request),
        startUpCheck: (server) => roles.startUpCheck?.(server) ?? [],
      },
    })
    return { running, folders, papers, marks }
  }
  const refused = async (...args: Parameters<typeof open>): Promise<string> => {
    try {
      const { running } = await open(...args)
      await running.stop()
      return 'started'
    } catch (error) {
      return (error as Error).message
    }
  }

  it('starts with exactly the permissions that the deletes ask for, and they are enough', async () => {
    const { running, folders, papers, marks } = await open([
      { verbs: ['delete', 'undelete'], resource: 'folder' },
      { verbs: ['delete', 'undelete', 'list'], resource: 'paper' },
      { verbs: ['delete', 'undelete', 'list'], resource: 'mark' },
    ])
    const client = new ForeignClient(FolderService, running.grpc)
    try {
      await withTenant('acme', async () => {
        await folders.create({ id: 'f', title: '' })
        await papers.create({ id: 'p', folderId: 'f' })
        await marks.create({ id: 'm', paperId: 'p' })
      })
      const alice = { 'account-id': 'acme', subject: 'alice' }
      const count = () => withTenant('acme', () => marks.count())
      expect((await client.unary('DeleteFolder', { id: 'f', force: true }, alice)).code).to.equal(0)
      expect(await count()).to.equal(0)
      expect((await client.unary('UndeleteFolder', { id: 'f' }, alice)).code).to.equal(0)
      expect(await count()).to.equal(1)
    } finally {
      client.close()
      await running.stop()
    }
  })

  const ROWS: readonly (readonly [what: string, verb: string, resource: string, says: string])[] = [
    ['a verb that no relation asks for', 'get', 'paper', 'valid: delete, list, undelete'],
    ['a misspelt verb', 'delet', 'paper', 'did you mean delete?'],
    ['one row of a resource that is asked about as a whole', 'delete', 'paper:7', ''],
    ['a resource that no relation leads to', 'delete', 'papers', 'did you mean paper?'],
  ]
  for (const [what, verb, resource, says] of ROWS)
    it(`does not start with ${what}`, async () => {
      const text = await refused([{ verbs: [verb], resource }])
      expect(text).to.include('roleAuthorizer: roles.keeper[0].').and.to.include(says)
    })

  for (const [force, deleted] of [
    [false, ['paper']],
    [true, ['paper', 'mark']],
  ] as const)
    it(`knows what a delete takes along ${force ? 'with' : 'without'} force`, async () => {
      const { running, folders } = await open([{ verbs: ['*'], resource: '*' }])
      await running.stop()
      const asked = folders.relatedQuestions({ force })
      expect(asked.delete.map(({ type }) => type)).to.deep.equal(deleted)
      expect(asked.undelete.map(({ type }) => type)).to.deep.equal(['paper', 'mark'])
      expect(asked.list.map(({ type }) => type)).to.deep.equal(['paper', 'mark'])
    })

  it('knows that a decision by row also needs get', async () => {
    const get = [{ verbs: ['get'], resource: 'folder' }]
    expect(await refused(get, { service: BulkService })).to.include(
      'no method and no relation requires "get" on "folder"',
    )
    expect(await refused(get, { service: BulkService, decidesByRow: true })).to.equal('started')
  })
})
