import assert from 'node:assert/strict'
import type { NewEntity, Repository, ResourceModel } from '../../persistence/index.js'
import { withTenant } from '../harness/with-tenant.js'

/** A repository of the contract: `Repository`, or a subclass of `repositoryOf` with its narrower updates. */
export interface ContractRepository<E extends object> extends Omit<Repository<E>, 'update' | 'batchUpdate'> {
  /** As that of `Repository`. */
  update(...operands: never[]): Promise<E>
  /** As that of `Repository`. */
  batchUpdate(...operands: never[]): Promise<E[]>
}

/** A fresh, empty repository, and what the contract needs to use it. */
export interface ContractSubject<E extends object> {
  readonly repository: ContractRepository<E>
  /** A valid new entity for 0, 1, 2 …; no two of them collide. The contract may replace its key. */
  readonly make: (n: number) => NewEntity<E>
  /** An update that changes every entity of `make`: proto names, and their values. */
  readonly change: { readonly patch: Partial<E>; readonly mask: readonly string[] }
  /** Called after each case. */
  readonly close?: () => Promise<void>
}

/** Makes a subject for one test. */
export type ContractFactory<E extends object> = () => ContractSubject<E> | Promise<ContractSubject<E>>

/** The subject of the running case, with helpers for all cases. */
export class Contract<E extends object> {
  readonly repository: Repository<E>
  readonly model: ResourceModel<E>
  readonly patch: Partial<E>
  readonly mask: readonly string[]

  constructor(private readonly subject: ContractSubject<E>) {
    // Narrower parameters than the contract's: it writes what they take, by names that only run time knows.
    this.repository = subject.repository as unknown as Repository<E>
    this.model = this.repository.model
    this.patch = subject.change.patch
    this.mask = subject.change.mask
  }

  /** Stores entities under these keys. */
  async store(...keys: readonly string[]): Promise<E[]> {
    const stored: E[] = []
    for (const key of keys) stored.push(await this.repository.create(this.draft(key)))
    return stored
  }

  /** A new entity with a key; without one, the repository mints it. */
  draft(key = ''): NewEntity<E> {
    return { ...this.subject.make(this.#made++), [this.model.key.property]: key }
  }

  keyOf(entity: E | undefined): string {
    assert.ok(entity !== undefined)
    return this.#value(entity, this.model.key.property) as string
  }

  async keys(showDeleted = false): Promise<string[]> {
    const { items } = await this.repository.list({ showDeleted })
    // Jest has its own Array, and a driver may make others.
    return Array.from(items, (entity) => this.keyOf(entity))
  }

  /** `{ ifMatch }` with the entity's etag; empty when the resource has none. */
  match(entity: E | undefined): { ifMatch?: string } {
    const { etag } = this.model
    assert.ok(entity !== undefined)
    return etag === undefined ? {} : { ifMatch: this.#value(entity, etag.property) as string }
  }

  /** What is stored of an entity: all but the token that a create returns once. */
  stored(entity: E | undefined): Readonly<Record<string, unknown>> {
    assert.ok(entity !== undefined)
    const hidden = new Set([...this.model.credentials, ...this.model.secrets].map(({ property }) => property))
    return Object.fromEntries(Object.entries(entity).filter(([property]) => !hidden.has(property)))
  }

  /**
   * What an update with this mask must not change: all of `stored` but the masked fields, the etag and the
   * time.
   */
  untouched(entity: E | undefined, mask: readonly string[] = []): Readonly<Record<string, unknown>> {
    const { etag, updateTime, byProto } = this.model
    const written = new Set<string | undefined>([
      ...mask.map((proto) => byProto.get(proto)?.property),
      etag?.property,
      updateTime?.property,
    ])
    return Object.fromEntries(
      Object.entries(this.stored(entity)).filter(([property]) => !written.has(property)),
    )
  }

  /** Whether the masked fields of an entity have the values of the patch. */
  isChanged(entity: E): boolean {
    return this.mask.every((proto) => {
      const property = this.model.byProto.get(proto)?.property ?? proto
      try {
        assert.deepEqual(this.#value(entity, property), this.#value(this.patch, property))
        return true
      } catch {
        return false
      }
    })
  }

  #made = 0

  #value(entity: object, property: string): unknown {
    return (entity as Readonly<Record<string, unknown>>)[property]
  }
}

/** One case of the contract. It runs as a principal of a tenant, on an empty repository. */
export type Case = readonly [name: string, check: <E extends object>(on: Contract<E>) => Promise<void>]

/** Runs as another tenant than the case. */
export const asStranger = <T>(fn: () => Promise<T>): Promise<T> => withTenant('stranger', fn)

/** Asserts that a promise rejects with an error of a class. */
export async function rejects(
  promise: Promise<unknown>,
  type: abstract new (...values: never[]) => Error,
): Promise<void> {
  await assert.rejects(promise, (error) => {
    assert.ok(error instanceof type, `expected ${type.name}, not ${String(error)}`)
    return true
  })
}
