import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as oauth from 'openid-client'
import type { ProviderOptions } from '../../lib/provider/options.js'
import { type RunningProvider, startProvider } from '../../lib/provider/start-provider.js'
import { Browser } from './browser.js'

export const CLIENTS = `
- client_id: orders
  client_secret: dev-secret-orders
  redirect_uris: [http://localhost:3000/callback]
  tile: { name: Orders, description: Manage orders, icon_url: "", launch_url: "http://localhost:3000/" }
- client_id: spa
  redirect_uris: [https://spa.dev.test/callback]
`

/** A provider with a folder of its own. */
export interface OwnProvider {
  readonly folder: string
  readonly provider: RunningProvider
  readonly issuer: string
  readonly write: (file: string, text: string) => void
  /** Ends it and starts it with the same files, at the same port. */
  readonly restart: () => Promise<void>
  readonly close: () => Promise<void>
  /** The client for `openid-client`. */
  readonly client: (id?: string, secret?: string) => Promise<oauth.Configuration>
}

/** Keys take long to make: the providers of a process have the same ones. */
const KEYS: { text: string | undefined } = { text: undefined }

export async function ownProvider(options: ProviderOptions = {}): Promise<OwnProvider> {
  const folder = mkdtempSync(join(tmpdir(), 'idp-'))
  const write = (file: string, text: string): void => writeFileSync(join(folder, file), text)
  write('idp-clients.yaml', CLIENTS)
  const all = (port: number): ProviderOptions => ({
    port,
    clients: join(folder, 'idp-clients.yaml'),
    users: join(folder, 'idp-users.yaml'),
    state: join(folder, 'state'),
    warn: () => {},
    ...options,
  })
  const keys = join(folder, 'state', 'keys.json')
  if (KEYS.text !== undefined) {
    mkdirSync(join(folder, 'state'))
    const now = Math.floor((options.now?.() ?? Date.now()) / 1000)
    writeFileSync(keys, KEYS.text.replaceAll(/"(publishedAt|signsFrom)":\d+/g, `"$1":${now}`))
  }
  let provider = await startProvider(all(0))
  KEYS.text ??= readFileSync(keys, 'utf8')
  return {
    folder,
    get provider() {
      return provider
    },
    get issuer() {
      return provider.issuer
    },
    write,
    restart: async () => {
      await provider.close()
      provider = await startProvider(all(provider.port))
      // Connections that were kept from before fail once.
      for (let at = 0; at < 10; at++) await fetch(`${provider.issuer}/healthz`).catch(() => undefined)
    },
    close: async () => {
      await provider.close()
      rmSync(folder, { recursive: true, force: true })
    },
    client: (id = 'orders', secret = 'dev-secret-orders') =>
      oauth.discovery(
        new URL(provider.issuer),
        id,
        undefined,
        secret === '' ? oauth.None() : oauth.ClientSecretBasic(secret),
        {
          execute: [oauth.allowInsecureRequests],
        },
      ),
  }
}

export const REDIRECT = 'http://localhost:3000/callback'

/** A sign-in that has come back to the client: its address there, and what redeems the code. */
export interface SignedIn {
  readonly callback: URL
  readonly checks: oauth.AuthorizationCodeGrantChecks
}

/** An authorization request of the client. */
export async function authorization(config: oauth.Configuration, parameters: Record<string, string> = {}) {
  const verifier = oauth.randomPKCECodeVerifier()
  const state = oauth.randomState()
  const url = oauth.buildAuthorizationUrl(config, {
    redirect_uri: REDIRECT,
    scope: 'openid profile email read write',
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    ...parameters,
  })
  return { url: url.href, checks: { pkceCodeVerifier: verifier, expectedState: state } }
}

/** Signs in as the user. */
export async function signIn(
  browser: Browser,
  config: oauth.Configuration,
  sub: string,
  parameters: Record<string, string> = {},
): Promise<SignedIn> {
  const { url, checks } = await authorization(config, parameters)
  const page = await browser.get(url)
  const last = page.status === 200 ? await browser.post(page.url, { sub }) : page
  return { callback: new URL(last.url), checks }
}
