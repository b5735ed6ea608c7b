import { initialsOf } from '../clients/tiles.js'
import type { User } from '../users/user.js'
import { type Html, html } from './html.js'
import type { Page } from './page.js'

/** The account picker page. */
export interface Chooser {
  readonly users: readonly User[]
  /** The address to which its forms are sent. */
  readonly action: string
  /** The app that waits for the sign-in. Undefined in the app dashboard. */
  readonly app: string | undefined
  /** The `sub` of the user who is listed first. */
  readonly hint: string | undefined
  /** The `sub` of the signed-in user. */
  readonly current: string | undefined
  /** The address for canceling. Undefined if the form posts `cancel` to the action. */
  readonly back: string | undefined
  readonly formOrigins: readonly string[]
}

export function chooserPage({ users, action, app, hint, current, back, formOrigins }: Chooser): Page {
  const ordered = [...users].sort((a, b) => Number(b.sub === hint) - Number(a.sub === hint))
  const cancel =
    back === undefined
      ? html`<form method="post" action="${action}">
          <button class="button" name="cancel" value="yes">Cancel</button>
        </form>`
      : html`<a class="button" href="${back}">Back</a>`
  return {
    title: 'Who do you want to be?',
    isNarrow: true,
    formOrigins,
    body: html`${app === undefined ? undefined : html`<p>You sign in to <strong>${app}</strong>.</p>`}${
        users.length === 0
          ? html`<p class="note" role="status">
              No users exist. Add some to idp-users.yaml and load this page again.
            </p>`
          : html`<form method="post" action="${action}">
              <ul class="plain">
                ${ordered.map((user) => choice(user, current))}
              </ul>
            </form>`
      }
      <div class="actions">${cancel}</div>`,
  }
}

function choice({ sub, name, email, tenant }: User, current: string | undefined): Html {
  const details = [tenant, email].filter((detail) => detail !== '').join(', ')
  return html`<li>
    <button class="card" name="sub" value="${sub}">
      <span class="mark round" aria-hidden="true">${initialsOf(name)}</span
      ><span class="text"
        ><strong>${name}</strong>${
          details === '' ? undefined : html`<span class="soft small">${details}</span>`
        }${sub === current ? html`<span class="soft small">You are signed in as this user.</span>` : undefined}</span
      >
    </button>
  </li>`
}
