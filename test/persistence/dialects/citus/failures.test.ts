import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { Aborted, Unavailable, UnknownOutcome } from '../../../../lib/errors.js'
import { transaction } from '../../../../lib/persistence/sql/transaction.js'
import type { TransactionOptions } from '../../../../lib/persistence/contract/repository.js'
import { TypeormRepository } from '../../../../lib/persistence/sql/typeorm-repository.js'
import { asTenant, rejection } from '../../../conformance/repository/subject.js'
import { Bee, Hive } from '../../relations/hives.js'
import { describeDistributed, opened } from './distributed.js'

const UNCOMMITTED = 'could not commit transaction for shard 102010 on at least one active node'
const REFUSED =
  'connection to the remote node u@127.0.0.1:5533 failed with the following error: Connection refused'
const ESSENTIAL = 'failure on connection marked as essential: 127.0.0.1:5533'

/** Triggers stand for the coordinator: they raise its errors, before a write or at COMMIT. */
describeDistributed('failures of a server', (open) => {
  let close: () => Promise<void>
  let dataSource: DataSource
  let hives: TypeormRepository<Hive>
  let attempts = 0

  before(async () => {
    // The tables stay on one server, which takes triggers.
    const alone = async () => ({ ...(await open()), spread: () => Promise.resolve() })
    ;({ dataSource, close } = await opened(alone, [Hive, Bee]))
    hives = new TypeormRepository(dataSource, Hive)
    await dataSource.query(`CREATE TABLE failing (warning text, code text, message text);
      CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
        DECLARE f failing;
        BEGIN
          SELECT * INTO f FROM failing;
          IF f.warning IS NOT NULL THEN RAISE WARNING USING ERRCODE = f.warning, MESSAGE = 'of a server'; END IF;
          IF f.code IS NOT NULL THEN RAISE EXCEPTION USING ERRCODE = f.code, MESSAGE = f.message; END IF;
          RETURN NEW;
        END $$;
      CREATE CONSTRAINT TRIGGER failing AFTER INSERT ON hives DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION fail()`)
  })
  beforeEach(() => (attempts = 0))
  after(() => close?.())

  const failing = async (code: string, message: string, warning?: string) => {
    await dataSource.query('DELETE FROM failing')
    await dataSource.query('INSERT INTO failing VALUES ($1, $2, $3)', [warning, code, message])
  }
  const create = (options?: TransactionOptions) =>
    asTenant('acme', () =>
      transaction(
        dataSource,
        async () => {
          attempts++
          await hives.create({ id: 'h1' })
        },
        options,
      ),
    )

  it('aborts a serializable transaction whose commit failed after a serialization failure', async () => {
    await failing('XX000', UNCOMMITTED, '40001')
    for (const isolation of ['serializable', 'repeatable read'] as const)
      await rejection(create({ isolation, maxAttempts: 3 }), Aborted)
    expect(attempts).to.equal(2)
  })

  it('does not know whether any other transaction is saved whose commit failed', async () => {
    await failing('XX000', UNCOMMITTED, '40001')
    await rejection(create({ maxAttempts: 3 }), UnknownOutcome, 'failed while committing')
    await failing('XX000', UNCOMMITTED)
    await rejection(create({ isolation: 'serializable', maxAttempts: 3 }), UnknownOutcome)
    await rejection(
      asTenant('acme', () => hives.create({ id: 'h1' })),
      UnknownOutcome,
      'failed while committing: it is unknown whether the changes were saved$',
    )
    expect(attempts).to.equal(2)
  })

  it('forgets the serialization failure of an earlier transaction', async () => {
    await failing('XX000', UNCOMMITTED, '40001')
    await rejection(create({ isolation: 'serializable' }), Aborted)
    await failing('XX000', UNCOMMITTED)
    for (let i = 0; i < 10; i++) await rejection(create({ isolation: 'serializable' }), UnknownOutcome)
  })

  it('is unavailable while a server refuses connections, and says that nothing was saved', async () => {
    await failing('08006', REFUSED)
    const error = await rejection(
      asTenant('acme', () => hives.create({ id: 'h1' })),
      Unavailable,
      'does not accept connections',
    )
    expect(error).to.not.be.instanceOf(UnknownOutcome)
  })

  it('is unavailable if an essential connection broke', async () => {
    await failing('XX000', ESSENTIAL)
    await rejection(
      asTenant('acme', () => hives.create({ id: 'h1' })),
      Unavailable,
    )
  })
})
