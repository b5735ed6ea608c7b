import { type Backend, databases, describeOn } from '../../support/databases/backends.js'
import { applyBaseline } from '../../support/databases/baseline.js'
import { drilling } from '../../support/drill.js'
import type { OpenBackend } from '../../support/databases/backends.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { DeclarationError } from '../../../lib/errors.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import { inAcme } from '../repository/subject.js'
import { collated } from '../repository/open-subject.js'
import { engineOf } from '../properties/property-kinds.js'
import { besides, type DeclaredRow, declaredRow } from './declared-row.js'
import { live } from './lives.js'
import { ROWS } from './rows.js'

async function opened(
  all: readonly DeclaredRow[],
  beside: ReturnType<typeof besides>,
  backend: Backend,
  isExisting: boolean,
): Promise<OpenBackend> {
  const entities = [beside.owner, beside.pen, ...all.map(({ entity }) => entity)]
  const found = await backend.open(entities)
  const { dataSource, database } = found
  if (dataSource === undefined || database === undefined) return found
  try {
    await applyBaseline(dataSource)
    if (isExisting && engineOf(backend.name) !== 'sqlite') {
      if (engineOf(backend.name) === 'mysql')
        await dataSource.query('ALTER DATABASE COLLATE utf8mb4_nopad_bin')
      await dataSource.synchronize()
    } else
      await createTables(
        collated(dataSource, backend),
        entities.filter((one) => one !== beside.pen),
        database.dialect.name,
      )
    return found
  } catch (error) {
    await found.close()
    throw error
  }
}

const asked = drilling ? databases : databases.filter(({ name }) => ['sqlite', 'postgres'].includes(name))

describeOn('a declaration of TypeORM', asked, (backend) => {
  // The server behind `mysql8` is MariaDB, for which TypeORM makes tables of MySQL otherwise.
  for (const isExisting of backend.name === 'mysql8' ? [false] : [false, true]) {
    const engine = engineOf(backend.name)
    const place = { engine, isExisting }
    const beside = besides(isExisting)
    const rows = ROWS.filter(({ engines, tables, isOfEachTest }) => {
      if (!drilling && isOfEachTest !== true) return false
      return (
        (engines ?? [engine]).includes(engine) &&
        (tables ?? (isExisting ? 'existing' : 'new')) === (isExisting ? 'existing' : 'new')
      )
    })
    const all = rows.map((row, at) => declaredRow(row, `items_${at}`, beside, place))
    const valid = all.filter(({ entity }) => problemsOf(entity).length === 0)
    let database: OpenBackend
    before(async () => {
      database = await opened(valid, beside, backend, isExisting)
      const owners = new (repositoryOf(beside.owner))(database.dataSource!)
      await inAcme(async () => {
        for (const n of [1, 2, 3, 4, 5, 6]) await owners.create({ id: `o${n}`, title: `${n}` })
      })
    })
    after(() => database?.close())
    for (const one of all)
      it(`${one.row.code} in ${isExisting ? 'an existing' : 'a new'} table`, async () => {
        resourceModel(one.entity)
        const dataSource = database.dataSource!
        const items = new (repositoryOf(one.entity))(dataSource) as never
        await inAcme(() => live({ ...one, items, dataSource, beside, ...place }))
      })
  }
})

function problemsOf(entity: DeclaredRow['entity']) {
  try {
    resourceModel(entity)
    return []
  } catch (error) {
    if (error instanceof DeclarationError) return error.problems
    throw error
  }
}
