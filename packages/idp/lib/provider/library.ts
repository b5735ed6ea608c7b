import { decodeProtectedHeader } from 'jose'
import type { EventEmitter } from 'node:events'
import { Provider, type KoaContextWithOIDC } from 'oidc-provider'
import { isRegistered, isOwnOrigin } from '../clients/origins.js'
import { adapterOf } from '../state/adapter.js'
import type { Keys } from '../state/keys.js'
import { accessTokenOf } from './access-tokens.js'
import { metadataOf } from './client-metadata.js'
import { configurationOf } from './configuration.js'
import { slowDown } from './device-polling.js'
import type { ProviderContext } from './provider-context.js'
import { isPublic } from './provider-handler.js'
import { withoutScript } from './library-pages.js'

/**
 * A provider of the library with the keys as they are now. All that it remembers is in the state, so a new
 * one goes on where another was.
 */
export function libraryOf(context: ProviderContext, keys: Keys): Provider {
  const adapter = adapterOf(context.state, context.now, {
    client: (id) => {
      const client = context.client(id)
      return client && metadataOf(client)
    },
    accessToken: (text) => accessTokenOf(text, context.state, keys, context.issuer),
  })
  const provider = new Provider(context.issuer, configurationOf(context, keys, adapter))
  provider.proxy = true
  allowAddresses(provider, context)
  keepUnsavedSessions(provider)
  onlyIdTokens(provider)
  hashAccessTokens(provider)
  provider.use(async (ctx, next) => {
    await next()
    slowDown(ctx as unknown as KoaContextWithOIDC, context)
    withoutScript(ctx as unknown as KoaContextWithOIDC)
    if (isPublic(ctx.path)) return ctx.set('cross-origin-resource-policy', 'cross-origin')
    for (const name of Object.keys(ctx.response.headers))
      if (name.startsWith('access-control-')) ctx.remove(name)
  })
  ;(provider as EventEmitter).on('error', (error: Error) => context.warn(String(error.stack)))
  provider.on('server_error', (_ctx, error: Error) => context.warn(String(error.stack)))
  return provider
}

/**
 * After a mistake on a page for devices the library saves the session again, also one that was never saved:
 * that failed, and hid the mistake.
 */
function keepUnsavedSessions({ Session }: Provider): void {
  const prototype = Session.prototype as unknown as {
    exp?: number
    persist: (this: object) => Promise<unknown>
  }
  const { persist } = prototype
  prototype.persist = function (this: { readonly exp?: number }) {
    return this.exp === undefined ? Promise.resolve() : persist.call(this)
  }
}

/**
 * The library takes whatever it has signed for the client as an ID token. An access token is with services,
 * which have no part in a sign-in or a sign-out (RFC 9068 section 5).
 */
function onlyIdTokens({ IdToken }: Provider): void {
  const validate = IdToken.validate.bind(IdToken)
  IdToken.validate = async (token, client) => {
    const { typ = 'JWT' } = decodeProtectedHeader(token)
    if (typ.toUpperCase() !== 'JWT') throw new TypeError(`a token of the type ${typ} is not an ID token`)
    return validate(token, client)
  }
}

/**
 * The library writes `at_hash` only into ID tokens of its authorization endpoint. It marks a token as an ID
 * token (OpenID Connect Core, 3.1.3.6).
 */
function hashAccessTokens({ AccessToken, IdToken }: Provider): void {
  const saved = new WeakMap<object, string>()
  const access = AccessToken.prototype as { save: (this: object, ttl?: number) => Promise<string> }
  const { save } = access
  access.save = async function (ttl) {
    const text = await save.call(this, ttl)
    saved.set(this, text)
    return text
  }
  const id = IdToken.prototype as unknown as { issue: (this: IssuedIdToken, how: IssuedFor) => unknown }
  const { issue } = id
  id.issue = function (how) {
    const token = this.ctx?.oidc.entities.AccessToken
    const text = token && saved.get(token)
    if (how.use === 'idtoken' && text !== undefined) this.set('at_hash', text)
    return issue.call(this, how)
  }
}

/** Members that the library's types do not declare. */
interface IssuedIdToken {
  readonly ctx?: KoaContextWithOIDC
  set(claim: string, value: string): void
}

interface IssuedFor {
  readonly use: string
}

/** Addresses are compared by the rules of the clients file, which the library does not know. */
function allowAddresses(provider: Provider, { client }: ProviderContext): void {
  const prototype = provider.Client.prototype as unknown as {
    readonly clientId: string
    redirectUriAllowed(uri: string): boolean
    postLogoutRedirectUriAllowed(uri: string): boolean
  }
  prototype.redirectUriAllowed = function (uri) {
    const known = client(this.clientId)
    return known !== undefined && isRegistered(known, uri)
  }
  prototype.postLogoutRedirectUriAllowed = function (uri) {
    const known = client(this.clientId)
    return known !== undefined && isOwnOrigin(known, uri)
  }
}
