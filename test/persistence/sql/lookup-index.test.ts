import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { RequestContext } from '../../../lib/context.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import type { Database } from '../../../lib/persistence/engines/executor/executor.js'
import { Statements } from '../../../lib/persistence/sql/statements/statements.js'
import { TypeormRepository } from '../../../lib/persistence/sql/typeorm-repository.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import { draft, subjectOptions } from '../../conformance/repository/subject.js'
import { databases, describeOn } from '../../support/databases/backends.js'
import { Specimen } from '../../support/entities/specimen.js'

const model = resourceModel(Specimen)
const [secret] = model.secrets
const [credential] = model.credentials

describeOn(
  'looking up by a hash or a public id',
  databases.filter(({ name }) => name === 'sqlite' || name === 'postgres' || name === 'mariadb'),
  ({ name, open }) => {
    let dataSource: DataSource
    let database: Database
    let close: () => Promise<void>
    before(async () => {
      const backend = await open([Specimen])
      dataSource = backend.dataSource as DataSource
      database = backend.database as Database
      close = backend.close
      await createTables(dataSource, [Specimen], database.dialect.name)
      const specimens = new TypeormRepository(dataSource, Specimen, subjectOptions)
      await specimens.transaction(
        async () => {
          for (let i = 0; i < 400; i++) await specimens.create(draft({ webhookSecret: `secret ${i}` }))
        },
        { context: new RequestContext({ principal: { tenant: 't', subject: '', groups: [], scopes: [] } }) },
      )
      await dataSource.query(name === 'mariadb' ? 'ANALYZE TABLE specimens' : 'ANALYZE')
    })
    after(() => close?.())

    const lookups = [
      ['lookupByWebhookSecretHash', secret?.hash, true, 'specimens_account_id_webhook_secret_hash_idx'],
      ['verifyApiKey', credential?.publicId, false, 'specimens_api_key_public_id_key'],
    ] as const
    for (const [operation, field, tenant, index] of lookups)
      it(`${operation} is one read through ${index}`, async () => {
        const { text } = new Statements(model, database.dialect).find(field as never, { tenant })
        const column = field?.column ?? ''
        // MariaDB looks into a unique index while it plans, so the value has to be one that is there.
        const [row]: Record<string, string>[] = await dataSource.query(
          `SELECT ${column} FROM specimens LIMIT 1`,
        )
        expect(await planOf(text, [row?.[column], ...(tenant ? ['t'] : [])])).to.include(index)
      })

    async function planOf(text: string, values: unknown[]): Promise<string> {
      if (name !== 'postgres') {
        const rows: unknown = await dataSource.query(
          `${name === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN'} ${text}`,
          values,
        )
        return JSON.stringify(rows)
      }
      // An empty table is read whole unless that is forbidden.
      return dataSource.transaction(async (manager) => {
        await manager.query('SET LOCAL enable_seqscan = off')
        return JSON.stringify(await manager.query(`EXPLAIN ${text}`, values))
      })
    }
  },
)
