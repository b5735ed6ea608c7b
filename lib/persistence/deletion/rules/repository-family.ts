import type { ResourceModel } from '../../../resource/resource-model.js'
import type { Sources } from '../../contract/new-entity.js'
import type { RowCall } from '../../rows/row-call.js'
import { isSoft, type Member } from './family.js'
import { type FamilyRows, FamilyWriter, type RowsAlone } from './family-writer.js'

/** Handles the effects of relations on one repository's deletes, undeletes and purges. */
export class RepositoryFamily<E extends object, C extends RowCall> {
  readonly #writers = new WeakMap<Member, FamilyWriter<E, C>>()
  /** Stands for a resource without relations, if each removed row must be reported. */
  readonly #childless: Member

  /**
   * @param memberOf - returns the resource's relations, or undefined if it has none or they are not yet
   *   known.
   */
  constructor(
    private readonly model: ResourceModel,
    private readonly memberOf: () => Member | undefined,
    private readonly family: FamilyRows<C>,
    private readonly alone: RowsAlone<E, C>,
    private readonly sources: Sources,
  ) {
    this.#childless = { model, children: [], parents: [], undeletedBy: undefined }
  }

  /** The writer, if another resource refers to this one. */
  get deletes(): FamilyWriter<E, C> | undefined {
    const { member } = this
    return member === undefined || member.children.length === 0 ? undefined : this.#writerOf(member)
  }

  /** The writer, if the resource is restored with others or refers to a resource that can be deleted. */
  get undeletes(): FamilyWriter<E, C> | undefined {
    const { member } = this
    const comesBack =
      member?.undeletedBy !== undefined || member?.parents.some(({ parent }) => isSoft(parent))
    return member !== undefined && comesBack === true ? this.#writerOf(member) : undefined
  }

  /** The writer, if another resource refers to this one or if every removed row emits an event. */
  get purges(): FamilyWriter<E, C> | undefined {
    const isReported = this.model.events?.on.has('purged') === true
    return this.deletes ?? (isReported ? this.purgesEach : undefined)
  }

  /** A writer that always handles each removed row. */
  get purgesEach(): FamilyWriter<E, C> {
    return this.deletes ?? this.#writerOf(this.#childless)
  }

  get member(): Member | undefined {
    return this.memberOf()
  }

  #writerOf(member: Member): FamilyWriter<E, C> {
    let writer = this.#writers.get(member)
    if (writer === undefined)
      this.#writers.set(member, (writer = new FamilyWriter(member, this.family, this.alone, this.sources)))
    return writer
  }
}
