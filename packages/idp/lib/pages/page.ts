import { Html, html } from './html.js'
import { STYLE, STYLE_SOURCE } from './style.js'

/** A page with the origins that it may load from and submit to. */
export interface Page {
  readonly title: string
  readonly body: Html
  /** Content of the header, such as the signed-in user. */
  readonly aside?: Html
  /** Other origins to which a form of the page may lead. */
  readonly formOrigins?: readonly string[]
  /** The origins of images. */
  readonly imageOrigins?: readonly string[]
  readonly isNarrow?: boolean
}

/** The style element. It must match the policy's hash byte for byte. */
const STYLE_ELEMENT = new Html(`<style>${STYLE}</style>`)

/** Returns the complete document. */
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

/** Returns a Content-Security-Policy that only allows the page's style, forms and images. */
export const policyOf = ({ formOrigins = [], imageOrigins = [] }: Partial<Page>): string =>
  [
    `default-src 'none'`,
    `style-src ${STYLE_SOURCE}`,
    ...(imageOrigins.length > 0 ? [`img-src ${imageOrigins.join(' ')}`] : []),
    `form-action ${["'self'", ...formOrigins].join(' ')}`,
    `frame-ancestors 'none'`,
    `base-uri 'none'`,
  ].join('; ')
