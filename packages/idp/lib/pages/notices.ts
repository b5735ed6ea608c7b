import { type Html, html } from './html.js'
import type { Page } from './page.js'

/** Returns a page for an error. */
export const errorPage = (message: string, detail: string | undefined): Page => ({
  title: 'That did not work',
  isNarrow: true,
  body: html`<p>${message}</p>
    ${detail === undefined ? undefined : html`<p class="soft small">${detail}</p>`}
    <div class="actions"><a class="button" href="/">Your apps</a></div>`,
})

/** Returns a page with hidden fields that the user submits with a button, instead of a script. */
export const continuePage = (form: Html, formOrigins: readonly string[]): Page => ({
  title: 'Continue',
  isNarrow: true,
  formOrigins,
  body: form,
})

/** Returns a page that asks for confirmation of a sign-out. */
export const signOutPage = (
  form: Html,
  formId: string,
  app: string | undefined,
  formOrigins: readonly string[],
): Page => ({
  title: 'Do you want to sign out?',
  isNarrow: true,
  formOrigins,
  body: html`<p>
      ${app === undefined ? 'You sign out' : html`<strong>${app}</strong> asks you to sign out`} of every app
      that you signed in to here.
    </p>
    ${form}
    <div class="actions">
      <button class="button first" form="${formId}" name="logout" value="yes">Sign out</button
      ><button class="button" form="${formId}">Stay signed in</button>
    </div>`,
})

export const signedOutPage = (): Page => ({
  title: 'You are signed out',
  isNarrow: true,
  body: html`<div class="actions"><a class="button" href="/">Your apps</a></div>`,
})

/** Returns a page that asks for the code on a device. */
export const deviceCodePage = (form: Html, mistake: string | undefined): Page => ({
  title: 'Sign in a device',
  isNarrow: true,
  body: html`${mistake === undefined ? undefined : html`<p class="note" role="alert">${mistake}</p>`}${form}`,
})

/** Returns a page that asks if the code is the one on the device. */
export const deviceConfirmPage = (form: Html, formId: string, app: string, code: string): Page => ({
  title: 'Is this the code of your device?',
  isNarrow: true,
  body: html`<p><strong>${app}</strong> wants to sign in on a device that shows this code:</p>
    <p><code>${code}</code></p>
    <p class="soft">If you did not begin this, or the device shows another code, choose No.</p>
    ${form}
    <div class="actions">
      <button class="button first" form="${formId}">Yes, continue</button
      ><button class="button" form="${formId}" name="abort" value="yes">No</button>
    </div>`,
})

export const deviceDonePage = (): Page => ({
  title: 'The device is signed in',
  isNarrow: true,
  body: html`<p>You can go back to it.</p>
    <div class="actions"><a class="button" href="/">Your apps</a></div>`,
})

/** Returns a page that asks for consent to an app's request, if the app requires it. */
export const consentPage = (
  action: string,
  app: string,
  user: string,
  scopes: readonly string[],
  formOrigins: readonly string[],
): Page => ({
  title: `Continue to ${app}?`,
  isNarrow: true,
  formOrigins,
  body: html`<p>You are <strong>${user}</strong>. The app asks for: ${scopes.join(', ') || 'nothing'}.</p>
    <form method="post" action="${action}">
      <div class="actions">
        <button class="button first" name="consent" value="yes">Continue</button
        ><button class="button" name="cancel" value="yes">Cancel</button>
      </div>
    </form>`,
})
