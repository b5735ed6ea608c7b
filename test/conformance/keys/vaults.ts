import {
  AfterLoad,
  AfterRecover,
  AfterSoftRemove,
  AfterUpdate,
  BeforeRecover,
  BeforeSoftRemove,
  BeforeUpdate,
  Column,
  Entity,
  PrimaryColumn,
} from 'typeorm'
import {
  Credential,
  ETag,
  Expirable,
  Resource,
  Searchable,
  Secret,
  SoftDeletable,
  TenantScoped,
} from '../../../decorators/index.js'
import type { PartValue } from '../../../lib/resource/keys/key-part.js'
import { declareKey, KEY_TYPES, type KeyType } from './key-types.js'

/** What the hooks of the vaults were told, in this order. */
export const told: (readonly [event: string, key: PartValue])[] = []

/** A resource with everything that has to do with keys. */
function vaultOf({ name, keys, missing, isOf = () => true, ...type }: KeyType, at: number) {
  const table = `vaults_${at}`
  const tell = (event: string, { id }: { readonly id: PartValue }) => void told.push([event, id])
  @Entity(table)
  @TenantScoped()
  @SoftDeletable()
  @Expirable()
  class Vault {
    id!: PartValue
    accountId!: string
    @Searchable() @Column() title!: string
    @Column({ type: 'varchar', length: 100, nullable: true }) note?: string
    @Secret() pin?: Secret
    @Credential() apiKey?: Credential
    @ETag() etag!: string
    deleteTime?: Date
    expireTime?: Date
    @AfterLoad() loaded(): void {
      tell('AfterLoad', this)
    }
    @BeforeUpdate() updating(): void {
      tell('BeforeUpdate', this)
    }
    @AfterUpdate() updated(): void {
      tell('AfterUpdate', this)
    }
    @BeforeSoftRemove() removing(): void {
      tell('BeforeSoftRemove', this)
    }
    @AfterSoftRemove() removed(): void {
      tell('AfterSoftRemove', this)
    }
    @BeforeRecover() recovering(): void {
      tell('BeforeRecover', this)
    }
    @AfterRecover() recovered(): void {
      tell('AfterRecover', this)
    }
  }
  declareKey(Vault, 'id', type.design, PrimaryColumn(type.column as never))
  Resource({ type: `vault_${at}` })(Vault)
  return { name, keys, missing, isOf, table, Vault }
}

export type Kept = ReturnType<typeof vaultOf>
export type Vault = InstanceType<Kept['Vault']>

/** One for every type of keys that somebody chooses. */
export const VAULTS: readonly Kept[] = KEY_TYPES.map(vaultOf)
