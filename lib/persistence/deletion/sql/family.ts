import type { DataSource } from 'typeorm'
import type { ResourceModel } from '../../../resource/resource-model.js'
import type { Sources } from '../../contract/new-entity.js'
import type { Database } from '../../engines/executor/executor.js'
import { resourcesOf } from '../../schema/resources-in.js'
import { tableNameOf } from '../../schema/table-name-of.js'
import { familyOf, isSoft, type Member } from '../rules/family.js'
import { FamilyWriter, type RowsAlone } from './family-writer.js'
import { type MemberSource, SqlFamily } from './sql-family.js'

/** What the relations of a DataSource mean for the deletes of one repository. Found out once the DataSource is initialized. */
export class Family<E extends object> {
  #writer: FamilyWriter<E> | undefined
  #childless: FamilyWriter<E> | undefined
  #isKnown = false

  constructor(
    private readonly database: Database,
    private readonly model: ResourceModel<E>,
    private readonly alone: RowsAlone<E>,
    private readonly sources: Sources,
    private readonly rowsOf: MemberSource['rowsOf'],
  ) {}

  /** Where something refers to the resource. */
  get deletes(): FamilyWriter<E> | undefined {
    const writer = this.#known()
    return writer === undefined || writer.member.children.length === 0 ? undefined : writer
  }

  /** Where it comes back with others, or refers to what can be deleted. */
  get undeletes(): FamilyWriter<E> | undefined {
    const writer = this.#known()
    const { hasDeleteId = false, parents = [] } = writer?.member ?? {}
    return hasDeleteId || parents.some(({ parent }) => isSoft(parent)) ? writer : undefined
  }

  /** Where something refers to the resource, or each row that is removed is told. */
  get purges(): FamilyWriter<E> | undefined {
    const { deletes, model } = this
    if (deletes !== undefined || model.events?.on.has('purged') !== true) return deletes
    return (this.#childless ??= this.#writerOf({
      model: model as unknown as ResourceModel,
      children: [],
      parents: [],
      hasDeleteId: false,
    }))
  }

  /** Its relations; undefined where it has none. */
  get member(): Member | undefined {
    return this.#known()?.member
  }

  #known(): FamilyWriter<E> | undefined {
    const { dataSource } = this.database
    if (this.#isKnown || !dataSource.isInitialized) return this.#writer
    this.#isKnown = true
    const member = membersOf(dataSource).get(this.model as unknown as ResourceModel)
    return member && (this.#writer = this.#writerOf(member))
  }

  #writerOf(member: Member): FamilyWriter<E> {
    const { dataSource, dialect } = this.database
    const tableOf = ({ model }: Member) => tableNameOf(model, dialect, dataSource)
    const family = new SqlFamily({ dialect, tableOf, rowsOf: this.rowsOf })
    return new FamilyWriter(member, family, this.alone, this.sources)
  }
}

const known = new WeakMap<DataSource, ReadonlyMap<ResourceModel, Member>>()

/** By resource, of all entities of an initialized DataSource. */
export function membersOf(dataSource: DataSource): ReadonlyMap<ResourceModel, Member> {
  let members = known.get(dataSource)
  if (members === undefined) known.set(dataSource, (members = familyOf(resourcesOf(dataSource))))
  return members
}
