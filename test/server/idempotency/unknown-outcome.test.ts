import { expect } from 'chai'
import { RequestContext } from '../../../lib/context.js'
import { MemoryIdempotencyStore } from '../../../lib/server/idempotency/memory-idempotency-store.js'
import { SqlIdempotencyStore } from '../../../lib/server/idempotency/sql-idempotency-store.js'
import type { Implementation } from '../../../lib/server/chain/handler.js'
import { wrapped } from '../../../lib/server/methods/wrapped.js'
import { type BackendName, databases, describeOn } from '../../support/databases/backends.js'
import { applyBaseline } from '../../support/databases/baseline.js'
import { ConnectionKiller } from '../../support/databases/connection-killer.js'
import type { SpecimenService } from '../../support/gen/specimens_pb.js'
import { serveSpecimens } from '../../support/servers/served-specimens.js'
import { ALICE } from '../../support/servers/server.js'

type Served = Awaited<ReturnType<typeof serveSpecimens>>

/** Where a connection has a server that can end it, and nothing in between. */
const SERVERS: readonly BackendName[] = ['postgres', 'mariadb', 'mysql8']
const [OK, FAILED, ABORTED, UNAVAILABLE] = [0, 9, 10, 14]

describeOn(
  'a call with an idempotency key whose connection is lost',
  databases.filter(({ name }) => SERVERS.includes(name)),
  (backend) => {
    let served: Served
    let keys = 0
    const start = async (store: 'memory' | 'sql', isWrapped: boolean) => {
      const create: Partial<Implementation<typeof SpecimenService>> = {
        createSpecimen: wrapped({ transaction: true }, (request, _call, standard) => standard(request)),
      }
      served = await serveSpecimens(
        backend,
        () => (isWrapped ? create : {}),
        (dataSource) => ({
          idempotencyStore:
            store === 'memory' ? new MemoryIdempotencyStore() : new SqlIdempotencyStore(dataSource!),
        }),
      )
      if (store === 'sql') await applyBaseline(served.dataSource!)
      const request = { specimen: { title: 'Cut', code: `code-${++keys}` } }
      const headers = { ...ALICE, 'idempotency-key': `key-${keys}` }
      const send = () => served.client.unary('CreateSpecimen', request, headers)
      /** Creates one; the answer to the first statement of that pattern is lost. */
      const lose = async (pattern: RegExp) => {
        const { killed, outcome } = await new ConnectionKiller(served.dataSource!).losingTheAnswer(
          pattern,
          send,
        )
        expect(killed).to.be.a('string')
        if (outcome.status === 'rejected') throw outcome.reason
        expect(outcome.value.code).to.equal(UNAVAILABLE)
        return outcome.value.details
      }
      return { create: send, lose }
    }
    afterEach(() => served?.stop())

    const rows = () =>
      RequestContext.as({ subject: 'a', tenant: 'acme' }, () => served.specimens.count({ showDeleted: true }))

    it('during its COMMIT is not run again, because it may have taken effect', async () => {
      const { create, lose } = await start('memory', true)
      expect(await lose(/^COMMIT$/)).to.include('it is unknown whether the changes were saved')
      expect(await rows()).to.equal(1)
      expect((await create()).code).to.equal(ABORTED)
      // From now on other processes know as well.
      for (let code = ABORTED; code === ABORTED; code = (await create()).code)
        await new Promise((resolve) => setTimeout(resolve, 100))
      const { code, details, trailers } = await create()
      expect([code, details]).to.deep.equal([
        FAILED,
        'the call with this request_id may have been made and its response was not stored, because it was lost: the connection to the database was lost: read the resource instead of repeating the call',
      ])
      expect(trailers.get('grpc-status-details-bin').toString()).to.contain('OUTCOME_UNKNOWN')
      expect(await rows()).to.equal(1)
    })

    it('during a write outside of a transaction is not run again either', async () => {
      const { create, lose } = await start('memory', false)
      const details = await lose(/\bINSERT INTO\b/)
      const isSaved = (await rows()) === 1
      expect(details).to.equal(
        `the connection to the database was lost${isSaved ? ': it is unknown whether the change was saved' : ''}`,
      )
      // Elsewhere a create is a transaction, which is gone with its connection.
      expect(isSaved).to.equal(backend.name === 'postgres')
      expect((await create()).code).to.equal(isSaved ? ABORTED : OK)
      expect(await rows()).to.equal(1)
    })

    for (const store of ['memory', 'sql'] as const)
      it(`before its COMMIT is run by the next call, with the store in ${store}`, async () => {
        const { create, lose } = await start(store, true)
        await lose(/\bINSERT INTO\b.*\bspecimens\b/s)
        expect(await rows()).to.equal(0)
        expect((await create()).code).to.equal(OK)
        expect(await rows()).to.equal(1)
      })

    it('during the COMMIT that its record is part of has its answer repeated', async () => {
      const { create, lose } = await start('sql', true)
      // The one before it claims the key.
      await lose(/^COMMIT$/)
      expect(await rows()).to.equal(1)
      const again = await create()
      expect([again.code, again.headers.get('x-idempotent-replay')]).to.deep.equal([OK, ['true']])
      expect(await rows()).to.equal(1)
    })
  },
)
