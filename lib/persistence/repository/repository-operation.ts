import type { RequestContext } from '../../context.js'
import type { NewEntity } from '../../resource/new-entity-of.js'
import type { CredentialField, ResourceModel, SecretField } from '../../resource/resource-model.js'
import type { Patch } from '../../resource/values/increment.js'
import type { Verification } from '../contract/credential-check.js'
import type { ReferringOptions } from '../contract/related-options.js'
import type {
  BatchDeleteOptions,
  BatchGetOptions,
  BatchUpdateItem,
  BatchUpdateOptions,
  CountOptions,
  DeleteManyOptions,
  DeleteOptions,
  ListFilter,
  ListOptions,
  ListScope,
  ModifyOptions,
  OperationOptions,
  Page,
  ReadOptions,
  ReadTogether,
  RowOptions,
  TransactionOptions,
  UndeleteOptions,
  UpdateManyOptions,
  UpdateOptions,
} from '../contract/repository.js'
import type { Filter } from '../query/filter-template.js'

/** An operation of a repository with all arguments of its call. */
export type Operation<E extends object = object, K = unknown> =
  | Asked<'get', { readonly key: K }, ReadOptions>
  | Asked<'list', { readonly list: ListOptions<E> & ReadTogether<string> }, ListScope>
  | Asked<'count', { readonly list: ListFilter }, CountOptions>
  | Asked<'batchGet', { readonly keys: readonly K[] }, BatchGetOptions>
  | Asked<'lookup', { readonly secret: SecretField; readonly hash: string }, ReadOptions>
  | Asked<'reveal', { readonly secret: SecretField; readonly key: K }, RowOptions>
  | Asked<'verify', { readonly credential: CredentialField; readonly token: string }, OperationOptions>
  | Asked<'create', { readonly entity: NewEntity<E> }, OperationOptions & ReferringOptions>
  | Asked<'update', Written<E, K>, UpdateOptions>
  | Asked<'modify', Modified<E, K>, ModifyOptions>
  | Asked<'delete', { readonly key: K }, DeleteOptions>
  | Asked<'undelete', { readonly key: K }, UndeleteOptions>
  | Asked<'batchUpdate', { readonly items: readonly BatchUpdateItem<K, E>[] }, BatchUpdateOptions>
  | Asked<'batchDelete', { readonly keys: readonly K[] }, BatchDeleteOptions>
  | Asked<'updateMany', Many & { readonly patch: Patch<E> }, UpdateManyOptions>
  | Asked<'deleteMany', Many, DeleteManyOptions>
  | Asked<'remint', { readonly credential: CredentialField; readonly key: K }, RowOptions>
  | Asked<'purgeExpired', { readonly before: Date }, OperationOptions>

/**
 * @typeParam Operands - the arguments except the options.
 */
type Asked<Kind extends string, Operands, Options> = Operands & {
  readonly kind: Kind
  readonly options: Options | undefined
}

interface Written<E extends object, K> {
  readonly key: K
  readonly patch: Patch<E>
  /** The mask. Undefined or empty for a full update. */
  readonly mask: readonly string[] | undefined
}

interface Many {
  readonly filter: Filter
  /** Writes a batch of matching rows. If omitted, one statement may write all rows. */
  readonly byKeys?: (batch: OperationOf<'batchUpdate' | 'batchDelete'>) => Promise<unknown>
}

interface Modified<E extends object, K> {
  readonly key: K
  readonly change: (current: E) => Patch<E> | Promise<Patch<E>>
}

/** The operations of one kind. */
export type OperationOf<Kind extends Operation['kind'], E extends object = object, K = unknown> = Extract<
  Operation<E, K>,
  { readonly kind: Kind }
>

/** The results of each kind of operation. */
export interface Results<E extends object> {
  get: E
  list: Page<E>
  count: number
  batchGet: E[]
  lookup: E
  reveal: string | undefined
  verify: Verification<E>
  create: E
  update: E
  modify: E
  delete: void
  undelete: E
  batchUpdate: E[]
  batchDelete: void
  updateMany: number
  deleteMany: number
  remint: string
  purgeExpired: number
}

/** Performs operations on all rows of the tenant, without calling overrides. */
export interface Unrestricted {
  readonly model: ResourceModel
  perform<Kind extends Operation['kind']>(operation: OperationOf<Kind>): Promise<Results<object>[Kind]>
  transaction<R>(fn: (context: RequestContext) => Promise<R>, options: TransactionOptions): Promise<R>
}
