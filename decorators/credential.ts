import { Column } from 'typeorm'
import { onProperty } from './apply.js'
import { declareProperty } from './entity-facts.js'
import { CREDENTIAL_PARTS } from './columns/secret-columns.js'

declare const kind: unique symbol

/** Type of a property that holds a verify-only credential. Plain strings assign to it. */
export type Credential = string & { readonly [kind]?: 'credential' }

/** True if a property was typed {@link Credential}; a plain string is not. */
export type IsCredential<T> = 0 extends 1 & T ? false : typeof kind extends keyof T ? true : false

/**
 * A verify-only token, such as an API key. Create mints it and returns it once; then only its salted hash is
 * kept. The property must be typed `Credential`.
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
