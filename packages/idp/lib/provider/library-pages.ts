import type { Configuration, KoaContextWithOIDC } from 'oidc-provider'
import { originsOf } from '../clients/origins.js'
import { Html, html } from '../pages/html.js'
import {
  continuePage,
  deviceCodePage,
  deviceConfirmPage,
  deviceDonePage,
  errorPage,
  signedOutPage,
  signOutPage,
} from '../pages/notices.js'
import { documentOf, type Page, policyOf } from '../pages/page.js'
import type { ProviderContext } from './provider-context.js'

type Features = NonNullable<Configuration['features']>

/** Returns the library's pages in the style of the others. */
export const sourcesOfPages = (context: ProviderContext) =>
  ({
    deviceFlow: {
      userCodeInputSource: (ctx, form, _out, error) => {
        const xsrf = /name="xsrf" value="([\w-]+)"/.exec(form)?.[1] ?? ''
        const mistake = mistakeOf(error)
        if (error !== undefined && mistake === undefined)
          return send(ctx, errorPage("That did not work. Open your device's page again.", undefined))
        send(ctx, deviceCodePage(codeForm(xsrf, codeOf(error)), mistake))
      },
      userCodeConfirmSource: (ctx, form, client, _device, userCode) =>
        send(
          ctx,
          deviceConfirmPage(
            new Html(form),
            'op.deviceConfirmForm',
            nameOf(context, client.clientId),
            userCode,
          ),
        ),
      successSource: (ctx) => send(ctx, deviceDonePage()),
    } satisfies Features['deviceFlow'],
    logout: {
      logoutSource: (ctx, form) => {
        const { client, params } = ctx.oidc
        const app = client && nameOf(context, client.clientId)
        const back = params?.['post_logout_redirect_uri']
        const origins = typeof back === 'string' ? originsOf([back]) : []
        send(ctx, signOutPage(new Html(form), 'op.logoutForm', app, origins))
      },
      postLogoutSuccessSource: (ctx) => send(ctx, signedOutPage()),
    } satisfies Features['rpInitiatedLogout'],
    renderError: (ctx, { error, error_description }) =>
      send(ctx, errorPage(error_description ?? 'The request cannot be processed.', error)),
  }) satisfies { readonly renderError: Configuration['renderError'] } & Readonly<Record<string, unknown>>

/** Adds a button to a form that the library would submit with a script. */
export function withoutScript(ctx: KoaContextWithOIDC): void {
  if (typeof ctx.body !== 'string' || !ctx.body.includes('<title>Submitting Callback</title>')) return
  const [, action = '', fields = ''] =
    /<form method="post" action="([^"]*)">([\s\S]*?)<noscript>/.exec(ctx.body) ?? []
  const target = action.replaceAll('&amp;', '&')
  const form = html`<form method="post" action="${new Html(action)}">
    ${new Html(fields)}<button class="button first">Continue</button>
  </form>`
  send(ctx, continuePage(form, originsOf([target])))
}

function send(ctx: KoaContextWithOIDC, page: Page): void {
  ctx.type = 'html'
  ctx.body = documentOf(page)
  ctx.set('content-security-policy', policyOf(page))
}

const nameOf = ({ client }: ProviderContext, id: string): string => client(id)?.tile?.name.trim() || id

const codeForm = (xsrf: string, code: string | undefined): Html =>
  html`<form method="post" action="/device">
    <input type="hidden" name="xsrf" value="${xsrf}" /><label for="user_code">The code on your device</label
    ><input
      type="text"
      id="user_code"
      name="user_code"
      value="${code}"
      autocomplete="off"
      autocapitalize="characters"
      spellcheck="false"
      required
    /><button class="button first">Continue</button>
  </form>`

const codeOf = (error: Error | undefined): string | undefined =>
  error !== undefined && 'userCode' in error ? String(error.userCode) : undefined

function mistakeOf(error: Error | undefined): string | undefined {
  if (error === undefined) return undefined
  if (error.name === 'AbortedError') return 'The device was not signed in.'
  if (codeOf(error) !== undefined || error.name === 'NoCodeError')
    return 'There is no such code, or it was already used or has expired. Check your device again.'
  return undefined
}
