import { ErrPreconditionFailed } from '../../errors.js'
import type { Field } from '../../resource/fields/field.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import { etagOf, versionIn } from '../../resource/values/version-etag.js'
import { and, equals, type FilterNode, isNull, or } from '../query/query-plan.js'
import { isStorable } from '../query/reachable.js'

/** The etags of a precondition. The entity must have one of them. `any` matches every entity. */
interface Etags {
  readonly any: boolean
  readonly etags: readonly string[]
}

type Etagged = Pick<ResourceModel, 'etag' | 'versionEtag'>

/**
 * A precondition on the etag (RFC 9110 If-Match, AIP-154). It is checked here, or by a statement that
 * compares {@link Precondition.etag}.
 */
export class Precondition {
  private constructor(
    private readonly model: Etagged,
    private readonly etags: readonly string[],
  ) {}

  /**
   * Returns the precondition, or undefined if every entity matches.
   *
   * @param ifMatch - the etag or etags. An empty etag matches no entity.
   */
  static of(model: Etagged, ifMatch: string | Etags | undefined): Precondition | undefined {
    if (ifMatch === undefined) return undefined
    if (typeof ifMatch === 'string') return new Precondition(model, [ifMatch])
    return ifMatch.any ? undefined : new Precondition(model, ifMatch.etags)
  }

  /** The etag that a statement compares. */
  get etag(): string | undefined {
    return this.etags[0]
  }

  /** The condition that the row has the etag, if the etag is made of other columns. */
  get condition(): FilterNode | undefined {
    const { versionEtag: parts } = this.model
    if (parts === undefined) return undefined
    const of = versionIn(this.etag ?? '')
    if (of === undefined) return or()
    const { version, createTime } = parts
    return and(equals(version, of.version), createTime && isReadAs(createTime, of.createTime))
  }

  /** False if no entity can match, because the resource has no etag or none of the etags is valid. */
  get canHold(): boolean {
    const { etag: field, versionEtag } = this.model
    if (versionEtag !== undefined) return this.etags.some((etag) => versionIn(etag) !== undefined)
    return field !== undefined && this.etags.some((etag) => etag !== '' && isStorable(etag))
  }

  /** Returns the entity's etag if it is one of the precondition's. */
  matched(entity: object): string | undefined {
    const { etag: field, versionEtag } = this.model
    const etag =
      versionEtag === undefined
        ? field && (entity as Readonly<Record<string, unknown>>)[field.property]
        : etagOf(versionEtag, entity)
    return typeof etag === 'string' && etag !== '' && this.etags.includes(etag) ? etag : undefined
  }

  matches(entity: object): boolean {
    return this.matched(entity) !== undefined
  }

  /**
   * Checks an entity.
   *
   * @throws ErrPreconditionFailed if the entity does not match.
   */
  check(entity: object): void {
    if (!this.matches(entity)) throw ErrPreconditionFailed.etag()
  }
}

/** A time is compared to the millisecond, as an etag shows it. */
const isReadAs = (column: Field, time: Date | undefined): FilterNode =>
  time === undefined
    ? isNull(column)
    : { kind: 'compare', column, key: undefined, op: '=', value: time, isRead: true }
