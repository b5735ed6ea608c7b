import type { Field } from '../../resource/fields/field.js'
import type { CredentialField, ResourceModel } from '../../resource/resource-model.js'
import { ErrConflict, ErrNoMinter } from '../../errors.js'
import type { CheckOptions, CredentialMinter, ParsedToken } from '../../secrets/credential-minter.js'
import type { SpecsInUse } from '../../secrets/specs-in-use.js'
import { nowOf, type Sources, type Values } from './new-entity.js'
import type { Caller, SecretOptions } from './secret-fields.js'

/** The result of `verify<Field>`. */
export type Verification<E> =
  { readonly ok: true; readonly record: E } | { readonly ok: false; readonly record: undefined }

/** A live row of any tenant with the stored parts of its credentials. */
export interface CredentialRow<E> {
  readonly entity: E
  readonly columns: Readonly<Values>
}

const REFUSED = Object.freeze({ ok: false, record: undefined })

/**
 * Verifies a presented token: its prefix, its hash, and that its owner is live and not expired. The result is
 * the same for every failure. Verifying an unknown public id takes as long as verifying a wrong secret.
 *
 * @param find - returns the live row with this public id, across all tenants.
 * @param specs - the hash parameters of the stored credentials. Undefined in memory, and in a transaction,
 *   which
 * must not wait for another connection.
 */
export async function checkCredential<E extends object>(
  model: ResourceModel<E>,
  credential: CredentialField,
  token: string,
  options: Sources & SecretOptions,
  find: (publicId: string) => Promise<readonly CredentialRow<E>[]>,
  specs: SpecsInUse | undefined,
  caller: Caller,
): Promise<Verification<E>> {
  const { minter } = options
  if (minter === undefined) throw new ErrNoMinter()
  const parsed = parse(minter, token)
  if (parsed === undefined || parsed.prefix !== minter.prefix) return REFUSED
  const [row] = await find(parsed.publicId)
  const asked: CheckOptions = {
    get signal() {
      return caller.signal
    },
    specs: () => specs?.read(),
    publicId: parsed.publicId,
  }
  if (row === undefined) {
    await minter.verifyUnknown(parsed.secret, asked)
    return REFUSED
  }
  const text = (field: { readonly property: string }) => row.columns[field.property] as string
  const stored = {
    publicId: parsed.publicId,
    salt: text(credential.salt),
    hash: text(credential.hash),
    spec: { algo: text(credential.hashspec) },
  }
  if (!(await minter.verify(parsed.secret, stored, asked))) return REFUSED
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

/**
 * A collision of 128 random bits is practically impossible. Three in a row mean that the random source is
 * broken.
 */
const ATTEMPTS = 3

/**
 * Runs a write that mints credentials. If a public id is already used, runs it again with new credentials.
 * Other conflicts are passed on to the caller.
 *
 * @param attempt - performs the write, and calls `minted` with the columns before it does.
 */
export async function withFreshMint<T>(
  model: ResourceModel,
  attempt: (minted: (columns: Readonly<Values>) => void) => Promise<T>,
  isTaken: (field: Field, publicId: string) => Promise<boolean>,
): Promise<T> {
  if (model.credentials.length === 0) return attempt(() => {})
  for (let left = ATTEMPTS - 1; ; left--) {
    let columns: Readonly<Values> = {}
    try {
      return await attempt((values) => (columns = values))
    } catch (error) {
      if (left === 0 || !(error instanceof ErrConflict)) throw error
      let taken = false
      for (const { publicId } of model.credentials) {
        const value = columns[publicId.property]
        taken ||= typeof value === 'string' && (await isTaken(publicId, value))
      }
      if (!taken) throw error
    }
  }
}
