import { expect } from 'chai'
import { RequestContext } from '../../../lib/context.js'
import type { Repository } from '../../../lib/persistence/contract/repository.js'
import type { ServerCall } from '../../../lib/call.js'
import { wrapped } from '../../../lib/server/methods/wrapped.js'
import { type BackendName, databases, describeOn } from '../../support/databases/backends.js'
import { everyStatementMayBeTheLast } from '../../support/databases/every-statement-may-be-the-last.js'
import { drilling } from '../../support/drill.js'
import type { Specimen } from '../../support/entities/specimen.js'
import { serveSpecimens } from '../../support/servers/served-specimens.js'
import { ALICE } from '../../support/servers/server.js'

type Served = Awaited<ReturnType<typeof serveSpecimens>>

/** Where a connection has a server that can end it, and nothing in between. */
const SERVERS: readonly BackendName[] = ['postgres', 'mariadb', 'mysql8']
const UNAVAILABLE = 14

/** In a test without drilling. */
const SHAPES = ['CreateSpecimen', 'UpdateSpecimen with If-Match']

class Refused extends Error {
  constructor(
    readonly code: number,
    details: string,
  ) {
    super(details)
  }
}

describeOn(
  'a wrapped method whose connection is killed',
  databases.filter(({ name }) => SERVERS.includes(name)),
  (backend) => {
    let served: Served
    let committed: string[] = []

    before(async () => {
      served = await serveSpecimens(backend, (specimens: Repository<Specimen>) => {
        /** Writes before and after the standard method, and says so once that is committed. */
        const around = async <R>({ context }: ServerCall, standard: () => Promise<R>): Promise<R> => {
          context.afterCommit(() => void committed.push('before'))
          await specimens.create({ id: 'before', title: 'before', code: 'before' })
          const answer = await standard()
          context.afterCommit(() => void committed.push('after'))
          await specimens.update('before', { title: 'after' }, ['title'])
          return answer
        }
        return {
          createSpecimen: wrapped({ transaction: true }, (request, call, standard) =>
            around(call, () => standard(request)),
          ),
          updateSpecimen: wrapped({ transaction: true }, (request, call, standard) =>
            around(call, () => standard(request)),
          ),
          deleteSpecimen: wrapped({ transaction: true }, (request, call, standard) =>
            around(call, () => standard(request)),
          ),
          undeleteSpecimen: wrapped({ transaction: true }, (request, call, standard) =>
            around(call, () => standard(request)),
          ),
          batchUpdateSpecimens: wrapped({ transaction: true }, (request, call, standard) =>
            around(call, () => standard(request)),
          ),
          batchDeleteSpecimens: wrapped({ transaction: true }, (request, call, standard) =>
            around(call, () => standard(request)),
          ),
        }
      })
    })
    after(() => served?.stop())

    const inAcme = <T>(fn: () => Promise<T>) => RequestContext.as({ subject: 'a', tenant: 'acme' }, fn)
    const snapshot = () =>
      inAcme(async () => {
        const { items } = await served.specimens.list({ showDeleted: true, orderBy: 'id' })
        return items.map(({ id, title, deleteTime }) => [id, title, deleteTime !== undefined])
      })
    const prepare = async () => {
      await served.dataSource!.query('DELETE FROM specimens')
      await inAcme(async () => {
        for (const id of ['a', 'b', 'gone']) await served.specimens.create({ id, title: 'Cut', code: id })
        await served.specimens.delete('gone')
      })
      committed = []
    }
    const changed = (id: string) => ({
      specimen: { id, title: 'changed' },
      update_mask: { paths: ['title'] },
    })
    const etagOf = async (id: string) => (await inAcme(() => served.specimens.get(id))).etag
    const calls: Record<string, () => Promise<readonly [string, object, object?]>> = {
      CreateSpecimen: async () => [
        'CreateSpecimen',
        { specimen_id: 'new', specimen: { title: 'Cut', code: 'new' } },
      ],
      UpdateSpecimen: async () => ['UpdateSpecimen', changed('a')],
      'UpdateSpecimen with If-Match': async () => [
        'UpdateSpecimen',
        changed('a'),
        { 'if-match': `"${await etagOf('a')}"` },
      ],
      DeleteSpecimen: async () => ['DeleteSpecimen', { id: 'a', etag: await etagOf('a') }],
      UndeleteSpecimen: async () => ['UndeleteSpecimen', { id: 'gone' }],
      BatchUpdateSpecimens: async () => ['BatchUpdateSpecimens', { requests: [changed('b'), changed('a')] }],
      BatchDeleteSpecimens: async () => ['BatchDeleteSpecimens', { ids: ['a', 'b'] }],
    }
    const refused = (error: unknown, isCommit: boolean) => {
      expect(error).to.be.instanceOf(Refused).with.property('code', UNAVAILABLE)
      expect(error)
        .to.have.property('message')
        .that.matches(isCommit ? /it is unknown whether the changes were saved/ : /connection .* was lost/)
    }

    for (const [name, request] of Object.entries(calls))
      if (drilling || SHAPES.includes(name))
        it(`${name}: nothing is left of it, and it can be called again`, async () => {
          let before: unknown
          let all: unknown
          await everyStatementMayBeTheLast(served.dataSource!, {
            prepare: async () => {
              await prepare()
              before = await snapshot()
            },
            operation: async () => {
              const [method, message, headers] = await request()
              const { code, details } = await served.client.unary(method, message, { ...ALICE, ...headers })
              if (code !== 0) throw new Refused(code, details)
            },
            refused,
            left: async (what) => {
              const now = await snapshot()
              if (what === 'everything') {
                all ??= now
                expect(now).to.deep.equal(all).and.to.not.deep.equal(before)
                expect(committed).to.deep.equal(['before', 'after'])
              } else expect([now, committed]).to.deep.equal([before, []])
            },
          })
        })
  },
)
