import { exportJWK, generateKeyPair } from 'jose'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A real OpenID provider that runs in this process. */
export interface OpenIdProvider {
  readonly issuer: string
  /**
   * Returns an access token of the client for an audience. `claims` are added to the claims of the provider.
   */
  token(audience: string, claims?: object): Promise<string>
  stop(): void
}

interface ProviderClass {
  new (
    issuer: string,
    configuration: object,
  ): { callback(): RequestListener; on(event: string, hear: () => void): void }
}

const CLIENT = {
  client_id: 'robot',
  client_secret: 'a-secret-of-the-test',
  redirect_uris: [],
  response_types: [],
}

export async function startOpenIdProvider(): Promise<OpenIdProvider> {
  // The package has no type declarations, so the name must not be a literal.
  const name = 'oidc-provider'
  const { default: Provider } = (await import(name)) as { default: ProviderClass }
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const key = { ...(await exportJWK(privateKey)), kid: 'signing', use: 'sig', alg: 'RS256' }
  let listener: RequestListener = (_request, response) => void response.end()
  const server: Server = createServer((request, response) => listener(request, response))
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  let audience = ''
  let extra: object = {}
  const provider = new Provider(issuer, {
    clients: [{ ...CLIENT, grant_types: ['client_credentials'] }],
    jwks: { keys: [key] },
    cookies: { keys: ['a-key-of-the-test'] },
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => 'urn:ashlar:test',
        getResourceServerInfo: () => ({
          scope: 'read',
          audience,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
    extraTokenClaims: () => extra,
    ttl: { ClientCredentials: 600 },
  })
  listener = provider.callback()
  return {
    issuer,
    async token(wanted, claims = {}) {
      audience = wanted
      extra = claims
      const body = new URLSearchParams({ grant_type: 'client_credentials', scope: 'read', ...pick(CLIENT) })
      const response = await fetch(`${issuer}/token`, { method: 'POST', body })
      return ((await response.json()) as { access_token: string }).access_token
    },
    stop: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

const pick = ({ client_id, client_secret }: typeof CLIENT) => ({ client_id, client_secret })
