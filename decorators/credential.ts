import { Column } from 'typeorm'
import { onProperty } from './apply.js'
import { declareProperty } from './entity-facts.js'
import { CREDENTIAL_PARTS } from './columns/secret-columns.js'

declare const kind: unique symbol

/** The type of a property with a credential that can only be verified. Plain strings are assignable to it. */
export type Credential = string & { readonly [kind]?: 'credential' }

/** True if a property has the type {@link Credential}. False for a plain string. */
export type IsCredential<T> = 0 extends 1 & T ? false : typeof kind extends keyof T ? true : false

/**
 * Declares a token that can only be verified, such as an API key. Create mints it and returns it once; only
 * its salted hash is stored. The property must have the type `Credential`.
 *
 * @example
 * ```ts
 * import { Credential, CredentialMinter, Resource, repositoryFor, TenantScoped } from 'ashlar'
 * import { type DataSource, Entity, PrimaryColumn } from 'typeorm'
 *
 * @Resource()
 * @Entity('robots')
 * @TenantScoped()
 * class Robot {
 *   @PrimaryColumn() id!: string
 *   @Credential() apiKey!: Credential
 * }
 *
 * async function robotOf(dataSource: DataSource, token: string): Promise<string | undefined> {
 *   const robots = repositoryFor(Robot, dataSource, { minter: new CredentialMinter({ prefix: 'acme' }) })
 *   const { ok, record } = await robots.verifyApiKey(token)
 *   return ok ? record.id : undefined
 * }
 * ```
 */
export const Credential: () => PropertyDecorator = (...given: readonly unknown[]) =>
  onProperty('Credential', given, (prototype, name) => {
    declareProperty(prototype, name, { role: 'credential' })
    for (const part of CREDENTIAL_PARTS)
      Column({ type: String, nullable: true })(prototype, `${name}_${part}`)
  })
