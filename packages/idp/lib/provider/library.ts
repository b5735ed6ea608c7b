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
 * Returns a provider of the library with the current keys. Its state is stored elsewhere, so that a new
 * provider can continue the work of an earlier one.
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
 * Allows the library to save a session that was never saved. After an error on a device page it saves the
 * session again, which would fail and hide the error.
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
 * Makes the library accept only ID tokens as such. It would accept every token that it has signed for the
 * client, but services have access tokens and must not use them for sign-in or sign-out (RFC 9068 section 5).
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
 * Adds `at_hash` to all ID tokens, which identifies them as such (OpenID Connect Core, 3.1.3.6). The library
 * only adds it at the authorization endpoint.
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

/** The members that the library's types do not declare. */
interface IssuedIdToken {
  readonly ctx?: KoaContextWithOIDC
  set(claim: string, value: string): void
}

interface IssuedFor {
  readonly use: string
}

/** Compares addresses by the rules of the clients file, which the library does not know. */
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
