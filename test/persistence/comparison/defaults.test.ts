import { expect } from 'chai'
import fc from 'fast-check'
import type { DataSource } from 'typeorm'
import { RequestContext } from '../../../lib/context.js'
import { engineOf } from '../../../lib/migrations/engines.js'
import { splitStatements } from '../../../lib/migrations/sql/split-statements.js'
import {
  type LiveSchema,
  schemaComparison,
  schemaModel,
  type SchemaVersion,
  tableMigrations,
} from '../../../lib/persistence/index.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { TypeormRepository } from '../../../lib/persistence/sql/typeorm-repository.js'
import {
  type BackendName,
  databases,
  describeOn,
  type OpenBackend,
} from '../../support/databases/backends.js'
import { drill } from '../../support/drill.js'
import { asMysql8 } from './as-mysql8.js'
import { type Defaults, defaults, entityOf, held, KNOWN, propertyOf, rotated } from './random-defaults.js'
import { liveSchemaOf } from './live-schema.js'

const RUNS = drill(2, 200)
/** More do not fit into a row of MySQL. */
const COLUMNS = 40

/** What a row has that another program wrote, which leaves all columns out. */
async function written(
  dataSource: DataSource,
  entity: ReturnType<typeof entityOf>,
  all: Defaults,
  isMysql: boolean,
) {
  const id = `r${++rows}`
  await dataSource.query(`INSERT INTO defaulted (account_id, id) VALUES ('acme', '${id}')`)
  const row = await RequestContext.as({ tenant: 'acme', subject: 's' }, () =>
    new TypeormRepository(dataSource, entity).get(id),
  )
  return all.map((one, at) => {
    const value = (row as unknown as Readonly<Record<string, unknown>>)[propertyOf(at)]
    return one[0] === 'float' && isMysql && isNear(value as number, held(one) as number) ? held(one) : value
  })
}
let rows = 0

/** MySQL keeps six digits of the default of a float when a table is altered. */
const isNear = (is: number, wanted: number): boolean => Math.abs(is - wanted) <= Math.abs(wanted) * 5.1e-6

describeOn('the default of a column', databases, (backend) => {
  const isMysql = backend.name === 'mariadb' || backend.name === 'mysql8'
  const dialect = isMysql ? 'mysql' : 'postgres'

  const live = (dataSource: DataSource): LiveSchema => {
    const known = liveSchemaOf(dataSource)
    return backend.name === 'mysql8' ? asMysql8(known) : known
  }
  const run = async (dataSource: DataSource, sql: string) => {
    for (const { text } of splitStatements(sql, engineOf(dialect).syntax).statements)
      await dataSource.query(text)
  }
  const expandsTo = async (dataSource: DataSource, entity: object): Promise<readonly SchemaVersion[]> => {
    const model = schemaModel([entity])
    scratch ??= await backend.open([])
    const there = live(scratch.dataSource as DataSource)
    await there.rows('DROP TABLE IF EXISTS defaulted')
    await model.make(there)
    return model.changes(await model.read(live(dataSource)), await model.read(there)).expand
  }
  let scratch: OpenBackend | undefined
  after(() => scratch?.close())

  /** Makes the table with the defaults, gives it others, and goes back. */
  const holds = async (given: Defaults) => {
    const all = backend.name === 'mysql8' ? withoutAstral(given) : given
    const [entity, other] = [entityOf(all), entityOf(rotated(all))]
    const first = await backend.open([entity])
    const dataSource = first.dataSource as DataSource
    try {
      if (CREATED.includes(backend.name)) {
        await createTables(dataSource, [entity], 'sqlite')
        expect(await written(dataSource, entity, all, isMysql)).to.deep.equal(all.map(held))
        return
      }
      await run(dataSource, tableMigrations({ entity })[0]?.sqlFor(dialect).up ?? '')
      expect(await schemaComparison([entity])(live(dataSource)), 'new').to.deep.equal([])
      expect(await written(dataSource, entity, all, isMysql), 'new').to.deep.equal(all.map(held))

      const versions = await expandsTo(dataSource, other)
      for (const { up } of versions) await run(dataSource, up)
      expect(await schemaComparison([other])(live(dataSource)), 'diff').to.deep.equal([])
      expect(await written(dataSource, entity, rotated(all), isMysql), 'diff').to.deep.equal(
        rotated(all).map(held),
      )

      for (const { down } of [...versions].reverse()) await run(dataSource, down)
      expect(await schemaComparison([entity])(live(dataSource)), 'down').to.deep.equal([])
      expect(await written(dataSource, entity, all, isMysql), 'down').to.deep.equal(all.map(held))
    } finally {
      await first.close()
    }
  }

  it('is what the entity says, and equal to it for verify, after new, diff and its down migration', async () => {
    const most = isMysql ? COLUMNS : KNOWN.length
    for (let at = 0; at < KNOWN.length; at += most) await holds(KNOWN.slice(at, at + most))
  })

  it(`is so for any value: ${RUNS} tables`, async () => {
    await fc.assert(fc.asyncProperty(defaults(COLUMNS), holds), { numRuns: RUNS, endOnFailure: true })
  })
})

/** MySQL shows a question mark for them in an expression, which alone can be the default of a long text. */
const withoutAstral = (all: Defaults): Defaults =>
  all.map(([kind, value]) =>
    kind === 'long' ? [kind, (value as string).replaceAll(/[\u{10000}-\u{10FFFF}]/gu, 'x')] : [kind, value],
  )

/** Where no file and no catalog says what a table is: createTables makes it. */
const CREATED: readonly BackendName[] = ['sqlite', 'better-sqlite3']
