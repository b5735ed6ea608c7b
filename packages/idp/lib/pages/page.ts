import { Html, html } from './html.js'
import { STYLE, STYLE_SOURCE } from './style.js'

/** A page, and what it may load and submit to. */
export interface Page {
  readonly title: string
  readonly body: Html
  /** Beside the page in the header, such as who is signed in. */
  readonly aside?: Html
  /** Origins beside its own that a form of the page may end at. */
  readonly formOrigins?: readonly string[]
  /** Origins of pictures. */
  readonly imageOrigins?: readonly string[]
  readonly isNarrow?: boolean
}

/** Byte for byte what the policy names. */
const STYLE_ELEMENT = new Html(`<style>${STYLE}</style>`)

/** The whole document. */
export const documentOf = ({ title, body, aside, isNarrow = false }: Page): string =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        ${STYLE_ELEMENT}
      </head>
      <body>
        <a class="skip" href="#content">Skip to the content</a>
        <header>
          <p><strong>Ashlar sign-in</strong> <span class="soft">for development</span></p>
          ${aside}
        </header>
        <main id="content" ${new Html(isNarrow ? ' class="narrow"' : '')}>
          <h1>${title}</h1>
          ${body}
        </main>
        <footer class="soft small">
          <p>
            For development on one machine. There are no passwords here: anybody who uses this machine can be
            anybody.
          </p>
        </footer>
      </body>
    </html> `.text

/** Nothing but the style of the page, its forms, and the pictures that it names. */
export const policyOf = ({ formOrigins = [], imageOrigins = [] }: Partial<Page>): string =>
  [
    `default-src 'none'`,
    `style-src ${STYLE_SOURCE}`,
    ...(imageOrigins.length > 0 ? [`img-src ${imageOrigins.join(' ')}`] : []),
    `form-action ${["'self'", ...formOrigins].join(' ')}`,
    `frame-ancestors 'none'`,
    `base-uri 'none'`,
  ].join('; ')
