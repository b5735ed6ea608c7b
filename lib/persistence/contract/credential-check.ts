import type { CredentialField, ResourceModel } from '../../resource/resource-model.js'
import { ErrNoMinter } from '../../errors.js'
import type { CredentialMinter, ParsedToken } from '../../secrets/credential-minter.js'
import { nowOf, type Sources, type Values } from './new-entity.js'
import type { SecretOptions } from './secret-fields.js'

/** What `verify<Field>` returns. */
export type Verification<E> =
  { readonly ok: true; readonly record: E } | { readonly ok: false; readonly record: undefined }

/** A live row of any tenant, with the stored parts of its credentials. */
export interface CredentialRow<E> {
  readonly entity: E
  readonly columns: Readonly<Values>
}

const REFUSED = Object.freeze({ ok: false, record: undefined })

/**
 * Checks a presented token: prefix, hash, and that its owner lives and has not expired. Whatever is wrong with it, the
 * result is the same, and an unknown public id takes the work of a wrong secret.
 * @param find - the live row with this public id, over all tenants.
 */
export async function checkCredential<E extends object>(
  model: ResourceModel<E>,
  credential: CredentialField,
  token: string,
  options: Sources & SecretOptions,
  find: (publicId: string) => Promise<CredentialRow<E> | undefined>,
  signal?: AbortSignal,
): Promise<Verification<E>> {
  const { minter } = options
  if (minter === undefined) throw new ErrNoMinter()
  const parsed = parse(minter, token)
  if (parsed === undefined || parsed.prefix !== minter.prefix) return REFUSED
  const row = await find(parsed.publicId)
  if (row === undefined) {
    await minter.verifyUnknown(parsed.secret, { signal })
    return REFUSED
  }
  const text = (field: { readonly property: string }) => row.columns[field.property] as string
  const stored = {
    publicId: parsed.publicId,
    salt: text(credential.salt),
    hash: text(credential.hash),
    spec: { algo: text(credential.hashspec) },
  }
  if (!(await minter.verify(parsed.secret, stored, { signal }))) return REFUSED
  return hasExpired(model, row.entity, nowOf(options)) ? REFUSED : { ok: true, record: row.entity }
}

function parse(minter: CredentialMinter, token: string): ParsedToken | undefined {
  try {
    return minter.parse(token)
  } catch {
    return undefined
  }
}

function hasExpired(model: ResourceModel, entity: object, now: Date): boolean {
  const expiry = model.expireTime && ((entity as Values)[model.expireTime.property] as Date | undefined)
  return expiry !== undefined && expiry.getTime() <= now.getTime()
}
