import { type Html, html } from './html.js'
import type { Page } from './page.js'

/** A page that says what went wrong. */
export const errorPage = (message: string, detail: string | undefined): Page => ({
  title: 'That did not work',
  isNarrow: true,
  body: html`<p>${message}</p>
    ${detail === undefined ? undefined : html`<p class="soft small">${detail}</p>`}
    <div class="actions"><a class="button" href="/">Your apps</a></div>`,
})

/** A page with hidden fields that a person sends on. It takes the place of a script that would do it. */
export const continuePage = (form: Html, formOrigins: readonly string[]): Page => ({
  title: 'Continue',
  isNarrow: true,
  formOrigins,
  body: form,
})

/** Asks whether to sign out. */
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

/** Asks for the code that a device shows. */
export const deviceCodePage = (form: Html, mistake: string | undefined): Page => ({
  title: 'Sign in a device',
  isNarrow: true,
  body: html`${mistake === undefined ? undefined : html`<p class="note" role="alert">${mistake}</p>`}${form}`,
})

/** Asks whether the code is the one that the device shows. */
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

/** Asks whether an app may have what it wants, where it insists on being asked about. */
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
