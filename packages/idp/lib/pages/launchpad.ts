import { initialsOf, type Tile } from '../clients/tiles.js'
import { originsOf } from '../clients/origins.js'
import type { User } from '../users/user.js'
import { type Html, html } from './html.js'
import type { Page } from './page.js'

/** The content of the app dashboard. */
export interface Launchpad {
  /** The signed-in user, or undefined. */
  readonly user: User | undefined
  readonly tiles: readonly Tile[]
  /** The problems of the files. */
  readonly problems: readonly string[]
}

/** Returns the app dashboard: the apps and the signed-in user. */
export function launchpadPage({ user, tiles, problems }: Launchpad): Page {
  return {
    title: 'Your apps',
    aside: asideOf(user),
    imageOrigins: originsOf(tiles.map(({ iconUrl }) => iconUrl)),
    body: html`${problemsOf(problems)}${
      tiles.length === 0
        ? html`<p>
            There is no app yet. Register one in <strong>idp-clients.local.yaml</strong>, or run
            <strong>idp clients sync</strong>.
          </p>`
        : html`<ul class="plain tiles">
            ${tiles.map(tileOf)}
          </ul>`
    }`,
  }
}

function tileOf({ name, description, iconUrl, launchUrl }: Tile): Html {
  const icon = iconUrl === '' ? undefined : html`<img src="${iconUrl}" alt="" referrerpolicy="no-referrer" />`
  const inside = html`<span class="mark" aria-hidden="true">${initialsOf(name)}${icon}</span
    ><span class="text"
      ><strong>${name}</strong>${
        description === '' ? undefined : html`<span class="soft small">${description}</span>`
      }${launchUrl === '' ? html`<span class="soft small">It has no address to open.</span>` : undefined}</span
    >`
  return launchUrl === ''
    ? html`<li><div class="card">${inside}</div></li>`
    : html`<li><a class="card" href="${launchUrl}" rel="noreferrer">${inside}</a></li>`
}

function asideOf(user: User | undefined): Html {
  if (user === undefined)
    return html`<div class="who">
      <span>Nobody is signed in.</span><a class="button first" href="/sign-in">Sign in</a>
    </div>`
  return html`<div class="who">
    <span
      >Signed in as <strong>${user.name}</strong>${
        user.tenant === '' ? undefined : html` <span class="soft">of ${user.tenant}</span>`
      }</span
    ><a class="button" href="/sign-in">Switch user</a>
    <form method="post" action="/sign-out"><button class="button">Sign out</button></form>
  </div>`
}

function problemsOf(problems: readonly string[]): Html | undefined {
  if (problems.length === 0) return undefined
  return html`<div class="note" role="status">
    <strong>Some of the files are not in effect:</strong>
    <ul>
      ${problems.map((problem) => html`<li>${problem}</li>`)}
    </ul>
  </div>`
}
