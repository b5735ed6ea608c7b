import type { AdapterPayload } from 'oidc-provider'
import type { Client } from '../clients/client.js'

const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code'

/**
 * Returns a client's metadata for oidc-provider. The secret may be sent in either way; a client without one
 * is public.
 */
export function metadataOf({ id, secret, redirectUris, tile }: Client): AdapterPayload {
  const hasRedirects = redirectUris.length > 0
  const isWeb = redirectUris.every((uri) => /^https?:/i.test(uri))
  return {
    client_id: id,
    ...(secret === undefined ? {} : { client_secret: secret }),
    client_name: tile?.name.trim() || id,
    redirect_uris: [...redirectUris],
    response_types: hasRedirects ? ['code'] : [],
    grant_types: [...(hasRedirects ? ['authorization_code'] : []), 'refresh_token', DEVICE],
    token_endpoint_auth_method: secret === undefined ? 'none' : 'client_secret_basic',
    application_type: isWeb ? 'web' : 'native',
  }
}
