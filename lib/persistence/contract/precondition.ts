import { ErrPreconditionFailed } from '../../errors.js'
import type { Field } from '../../resource/fields/field.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import { isStorable } from '../query/reachable.js'

/** The etags of a precondition. The entity must have one of them. `any` matches every entity. */
interface Etags {
  readonly any: boolean
  readonly etags: readonly string[]
}

/**
 * A precondition on the etag (RFC 9110 If-Match, AIP-154). It is checked here, or by a statement that
 * compares {@link Precondition.etag}.
 */
export class Precondition {
  private constructor(
    private readonly field: Field | undefined,
    private readonly etags: readonly string[],
  ) {}

  /**
   * Returns the precondition, or undefined if every entity matches.
   *
   * @param ifMatch - the etag or etags. An empty etag matches no entity.
   */
  static of({ etag }: ResourceModel, ifMatch: string | Etags | undefined): Precondition | undefined {
    if (ifMatch === undefined) return undefined
    if (typeof ifMatch === 'string') return new Precondition(etag, [ifMatch])
    return ifMatch.any ? undefined : new Precondition(etag, ifMatch.etags)
  }

  /** The etag that a statement compares. */
  get etag(): string | undefined {
    return this.etags[0]
  }

  /** False if no entity can match, because the resource has no etag or none of the etags is valid. */
  get canHold(): boolean {
    return this.field !== undefined && this.etags.some((etag) => etag !== '' && isStorable(etag))
  }

  /** Returns the entity's etag if it is one of the precondition's. */
  matched(entity: object): string | undefined {
    if (this.field === undefined) return undefined
    const etag = (entity as Readonly<Record<string, unknown>>)[this.field.property]
    return typeof etag === 'string' && etag !== '' && this.etags.includes(etag) ? etag : undefined
  }

  matches(entity: object): boolean {
    return this.matched(entity) !== undefined
  }

  /**
   * @throws ErrPreconditionFailed if the entity does not match.
   */
  check(entity: object): void {
    if (!this.matches(entity)) throw ErrPreconditionFailed.etag()
  }
}
