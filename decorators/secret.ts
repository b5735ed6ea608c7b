import { Column } from 'typeorm'
import { onProperty } from './apply.js'
import { declareProperty } from './entity-facts.js'

declare const kind: unique symbol

/** The type of a property with a secret that can be read again. Plain strings are assignable to it. */
export type Secret = string & { readonly [kind]?: 'secret' }

/** True if a property has the type {@link Secret}. False for a plain string. */
export type IsSecret<T> = 0 extends 1 & T ? false : typeof kind extends keyof T ? true : false

/**
 * Declares a secret that can be read again. Only `<field>_hash` (deterministic, indexed) and `<field>_cipher`
 * are stored, and reads never return the plaintext. The property must have the type `Secret`.
 *
 * @example
 * ```ts
 * import { Resource, Secret, TenantScoped } from 'ashlar'
 * import { Entity, PrimaryColumn } from 'typeorm'
 *
 * @Resource()
 * @Entity('webhooks')
 * @TenantScoped()
 * class Webhook {
 *   @PrimaryColumn() id!: string
 *   @Secret() signingKey!: Secret
 * }
 * ```
 */
export const Secret: () => PropertyDecorator = (...given: readonly unknown[]) =>
  onProperty('Secret', given, (prototype, name) => {
    declareProperty(prototype, name, { role: 'secret' })
    Column({ type: String, nullable: true })(prototype, `${name}_hash`)
    Column({ type: 'text', nullable: true })(prototype, `${name}_cipher`)
  })
