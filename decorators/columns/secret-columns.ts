/** The columns of a retrievable secret. */
export const SECRET_PARTS = ['hash', 'cipher'] as const

/** The columns of a credential: enough to verify a token, nothing to recover it. */
export const CREDENTIAL_PARTS = ['public_id', 'salt', 'hash', 'hashspec'] as const

/** A column behind a secret or a credential. */
export interface SecretColumn {
  readonly role: 'secret' | 'credential'
  /** As a property of its own would be called, such as `apiKeyPublicId`. */
  readonly name: string
}

/** The properties that hold the columns behind secrets and credentials. */
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
