/** The columns of a secret that can be read again. */
export const SECRET_PARTS = ['hash', 'cipher'] as const

/** The columns of a credential. They are sufficient to verify a token, but not to recover it. */
export const CREDENTIAL_PARTS = ['public_id', 'salt', 'hash', 'hashspec'] as const

/** A column of a secret or credential. */
export interface SecretColumn {
  readonly role: 'secret' | 'credential'
  /** The name that a property of its own would have, such as `apiKeyPublicId`. */
  readonly name: string
}

/** Returns the properties of the columns of secrets and credentials. */
export function secretColumns(
  properties: ReadonlyMap<string, { readonly role?: string }>,
): ReadonlyMap<string, SecretColumn> {
  return new Map(
    [...properties].flatMap(([property, { role }]): [string, SecretColumn][] =>
      role === 'secret' || role === 'credential'
        ? (role === 'secret' ? SECRET_PARTS : CREDENTIAL_PARTS).map((part) => [
            `${property}_${part}`,
            { role, name: `${property}${pascalCase(part)}` },
          ])
        : [],
    ),
  )
}

const pascalCase = (name: string): string =>
  name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
