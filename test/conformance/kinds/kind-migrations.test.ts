import { expect } from 'chai'
import { Column, Entity, PrimaryColumn } from 'typeorm'
import { ETag, Resource, TenantScoped } from '../../../decorators/index.js'
import { migrate } from '../../../lib/migrations/index.js'
import { schemaComparison, schemaModel, type SchemaVersion } from '../../../lib/persistence/index.js'
import type { EntityClass } from '../../../lib/resource/resource-model.js'
import { file, onEachEngine } from '../../migrations/each-engine.js'
import { drilling } from '../../support/drill.js'
import { type Engine, PROPERTY_KINDS, type PropertyKind, serviceWith } from '../properties/property-kinds.js'

const WITHOUT: Pick<PropertyKind, 'addTo'> = { addTo: () => {} }

/** Every twelfth kind in a test without drilling. */
const KINDS = PROPERTY_KINDS.filter((_, at) => drilling || at % 12 === 0)

/** Returns a class for each kind, with the property or without it. */
const classes = (engine: Engine, isWith: boolean): readonly EntityClass<object>[] =>
  KINDS.map((kind, at) => {
    class Task {
      @PrimaryColumn({ length: 40 }) id!: string
      @Column({ length: 40 }) title!: string
      @ETag() etag!: string
      @Column({ length: 40 }) accountId!: string
    }
    if (isWith) {
      Reflect.defineMetadata('design:type', kind.designType, Task.prototype, 'worth')
      for (const decorate of kind.column(engine)) decorate(Task.prototype, 'worth')
    }
    TenantScoped()(Task)
    Entity(`kinds_${at}`)(Task)
    Resource({ message: serviceWith(isWith ? kind : WITHOUT).method.getTask.output })(Task)
    return Task
  })

onEachEngine('a migration of every kind of property', (database, dialect) => {
  const files: Record<string, string> = {}
  const migrator = () => migrate({ url: database().url, files })
  const full = classes(dialect, true)
  const bare = classes(dialect, false)
  const latest = () => Object.keys(files).length / 2 + 1
  const ship = (versions: readonly SchemaVersion[]) => {
    for (const { what, up, down } of versions)
      Object.assign(files, file(`${String(latest() + 1).padStart(4, '0')}_${what}`, up, down))
    return migrator().up()
  }
  const changes = async (entities: readonly EntityClass<object>[]) =>
    (await migrator().diff(schemaModel(entities))).changes
  /** Applies the changes to a model, those of its contract phase included. */
  const change = async (entities: readonly EntityClass<object>[]) => {
    await ship((await changes(entities)).expand)
    await ship((await changes(entities)).contract)
  }
  const returnTo = async (version: number) => {
    await migrator().down(version)
    for (const name of Object.keys(files)) if (Number.parseInt(name, 10) > version) delete files[name]
  }
  const expectClean = async (entities: readonly EntityClass<object>[]) => {
    const { expand, contract } = await changes(entities)
    expect([...expand, ...contract].map(({ what }) => what)).to.deep.equal([])
    expect(await migrator().verify(schemaComparison(entities))).to.deep.equal([])
  }

  it('adds and drops each column, verifies, and restores it', async () => {
    await change(bare)
    await expectClean(bare)
    const withoutColumns = latest()

    await change(full)
    await expectClean(full)
    await returnTo(withoutColumns)
    await expectClean(bare)

    await change(full)
    const withColumns = latest()
    await change(bare)
    await expectClean(bare)
    await returnTo(withColumns)
    await expectClean(full)
  })
})
