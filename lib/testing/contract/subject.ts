import { kindOf } from '../../resource/kinds/kinds.js'
import assert from 'node:assert/strict'
import type { NewEntity, Repository, ResourceModel } from '../../persistence/index.js'
import { type Form, formOf } from './key-forms.js'
import { withTenant } from '../harness/with-tenant.js'

/**
 * A repository under test, with keys of any type: `Repository`, or a subclass of `repositoryOf` with its
 * narrower updates.
 */
export interface ContractRepository<E extends object> extends Omit<
  Repository<E, never>,
  'update' | 'batchUpdate'
> {
  /** See `Repository.update`. */
  update(...operands: never[]): Promise<E>
  /** See `Repository.batchUpdate`. */
  batchUpdate(...operands: never[]): Promise<E[]>
}

/** A new, empty repository and the data that the contract uses with it. */
export interface ContractSubject<E extends object> {
  readonly repository: ContractRepository<E>
  /**
   * Returns a valid new entity for 0, 1, 2 and so on; all must be different. The contract may replace its
   * key.
   */
  readonly make: (n: number) => NewEntity<E>
  /** An update that changes every entity returned by `make`: a patch, and the proto names of its fields. */
  readonly change: { readonly patch: Partial<E>; readonly mask: readonly string[] }
  /**
   * Two existing tenants, for applications whose tenants are rows of a table: the tenant of the cases and
   * another one. Default: two generated values of the tenant column's type.
   */
  readonly tenants?: readonly [tenant: string, stranger: string]
  /** Called after each case. */
  readonly close?: () => Promise<void>
}

/** Creates a subject for one test. */
export type ContractFactory<E extends object> = () => ContractSubject<E> | Promise<ContractSubject<E>>

const UUID_LENGTH = 36

/** The subject of the running case, with helpers that the cases share. */
export class Contract<E extends object> {
  readonly repository: Repository<E>
  readonly model: ResourceModel<E>
  readonly patch: Partial<E>
  readonly mask: readonly string[]
  readonly #form: Form
  readonly #names = new Map<string, string>()
  /** The keys that the database generated, by their names in cases. */
  readonly #counted = new Map<string, string>()

  constructor(private readonly subject: ContractSubject<E>) {
    // The subject's parameters are narrower. The cases pass values of these types, under names that are known
    // only at run time.
    this.repository = subject.repository as unknown as Repository<E>
    this.model = this.repository.model
    const { key, keys } = this.model
    this.#form = formOf(
      (text) => keys.isKey(text) && kindOf(key).problem(keys.keyOf(text), key) === undefined,
    )
    this.patch = subject.change.patch
    this.mask = subject.change.mask
  }

  /** Stores an entity for each name. */
  async store(...names: readonly string[]): Promise<E[]> {
    const stored: E[] = []
    for (const name of names) stored.push(await this.create(name))
    return stored
  }

  /**
   * Stores an entity for a name.
   * @param more - values in addition to those of the draft.
   */
  async create(name: string, more: object = {}): Promise<E> {
    const created = await this.repository.create({ ...this.draft(name), ...more })
    if (this.isCounted && name !== '') this.#named(name, this.model.keys.textOf(created))
    return created
  }

  /**
   * Returns a new entity with the key for a name. Without a name, the repository or the database generates
   * the key.
   */
  draft(name = ''): NewEntity<E> {
    const key = this.isCounted ? undefined : name === '' ? this.#form.none : this.key(name)
    return { ...this.subject.make(this.#made++), [this.model.key.property]: key }
  }

  /**
   * Returns the key for a name in a case, such as `a`, `b` or `missing`. It has the resource's key type, and
   * keys sort in the order of the names. A string key equals its name. Generated numbers sort in the order of
   * creation.
   */
  key(name: string): string {
    const text = this.isCounted
      ? (this.#counted.get(name) ?? this.#named(name, this.#uncounted()))
      : this.#named(name, this.#form.textOf(name))
    return this.model.keys.keyOf(text) as string
  }

  /**
   * Runs `fn` as a tenant that the resource can belong to.
   * @param name - `tenant` for the case's own tenant.
   */
  as<T>(name: 'tenant' | 'stranger', fn: () => Promise<T>): Promise<T> {
    const [own, other] = this.subject.tenants ?? []
    const given = name === 'tenant' ? own : other
    if (given !== undefined) return withTenant(given, fn)
    const { tenant, tenantPart } = this.model
    const isTenant = (text: string) => {
      if (tenant === undefined || tenantPart === undefined) return true
      const value = tenantPart.valueOf(text)
      return value !== undefined && kindOf(tenant).problem(value, tenant) === undefined
    }
    const isShort = (tenant?.maxLength ?? Infinity) < 'stranger'.length
    const text = isTenant(name) && !isShort ? name : formOf(isTenant).textOf(name === 'tenant' ? 'a' : 'b')
    return withTenant(text, fn)
  }

  /** Returns the name that a case uses for the entity's key, or the key itself if it was generated. */
  nameOf(entity: E | undefined): string {
    assert.ok(entity !== undefined)
    const text = this.model.keys.textOf(entity)
    return this.#names.get(text) ?? text
  }

  async names(showDeleted = false): Promise<string[]> {
    const { items } = await this.repository.list({ showDeleted })
    // Jest replaces the global Array, and a driver may create others.
    return Array.from(items, (entity) => this.nameOf(entity))
  }

  /** True if a filter can name the key. A message with a `name` may have no key field. */
  get filtersByKey(): boolean {
    return this.model.key.proto in this.model.columns
  }

  /** Returns a filter that matches the key for a name. */
  is(name: string): string {
    const key: unknown = this.key(name)
    return `${this.model.key.proto} = ${typeof key === 'string' ? JSON.stringify(key) : String(key)}`
  }

  /** True if every repository, or the database, generates keys of the type. */
  get mintsByItself(): boolean {
    const isFit = (this.model.key.maxLength ?? UUID_LENGTH) >= UUID_LENGTH
    return (this.#form.isIdentity && isFit) || this.isCounted
  }

  /** True if the database generates the keys and callers cannot choose them. */
  get isCounted(): boolean {
    return this.model.key.isIdentity === true
  }

  /** Returns the names of stored entities in the order of their keys. */
  inOrder(...names: readonly string[]): readonly string[] {
    const { keys } = this.model
    const textOf = (name: string) => keys.given(this.key(name)) ?? ''
    return [...names].sort((a, b) => keys.compare(textOf(a), textOf(b)))
  }

  get hasEtag(): boolean {
    return (this.model.etag ?? this.model.versionEtag) !== undefined
  }

  /** Returns `{ ifMatch }` with the entity's etag; an empty object if the resource has no etag. */
  match(entity: E | undefined): { ifMatch?: string } {
    assert.ok(entity !== undefined)
    const { etag, versionEtag } = this.model
    const property = etag?.property ?? versionEtag?.field.localName
    return property === undefined ? {} : { ifMatch: this.#value(entity, property) as string }
  }

  /** Returns the stored values of an entity, without the token that only a create returns. */
  stored(entity: E | undefined): Readonly<Record<string, unknown>> {
    assert.ok(entity !== undefined)
    const hidden = new Set([...this.model.credentials, ...this.model.secrets].map(({ property }) => property))
    return Object.fromEntries(Object.entries(entity).filter(([property]) => !hidden.has(property)))
  }

  /**
   * Returns the values that an update with this mask must not change: all of `stored` except the masked
   * fields, the etag, the update time and the values that the table generates.
   */
  untouched(entity: E | undefined, mask: readonly string[] = []): Readonly<Record<string, unknown>> {
    const { etag, version, versionEtag, updateTime, byProto, fields } = this.model
    const written = new Set<string | undefined>([
      ...mask.map((proto) => byProto.get(proto)?.property),
      etag?.property,
      version?.property,
      versionEtag?.field.localName,
      updateTime?.property,
      ...fields.filter(({ generated }) => generated === true).map(({ property }) => property),
    ])
    return Object.fromEntries(
      Object.entries(this.stored(entity)).filter(([property]) => !written.has(property)),
    )
  }

  /** Returns true if the masked fields of an entity have the values of the patch. */
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

  #named(name: string, text: string): string {
    this.#names.set(text, name)
    if (this.isCounted) this.#counted.set(name, text)
    return text
  }

  /** Returns a number that the database has not generated yet. */
  #uncounted(): string {
    const most = [2_000_000_000, 32_000].find((one) => this.model.keys.isKey(String(one)))
    return String((most ?? 0) - this.#counted.size)
  }

  #made = 0

  #value(entity: object, property: string): unknown {
    return (entity as Readonly<Record<string, unknown>>)[property]
  }
}

/** A case of the contract. It runs as a principal of a tenant, on an empty repository. */
export type Case = readonly [name: string, check: <E extends object>(on: Contract<E>) => Promise<void>]

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
