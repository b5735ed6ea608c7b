import { readdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'
import { headingOf, llmsText, miniSearch, sidebarOf } from './pages.js'

const docs = join(dirname(fileURLToPath(import.meta.url)), '..')

const ENTRIES = [
  'decorators',
  'persistence',
  'server',
  'secrets',
  'events',
  'client',
  'migrations',
  'nest',
  'testing',
]

const PICTURES = `.dark .only-light, html:not(.dark) .only-dark { display: none }
p:has(> .only-light) { overflow-x: auto }
.vp-doc .only-light, .vp-doc .only-dark { max-width: none; width: max(100%, 700px) }`

const api = [
  { text: 'ashlar', link: '/reference/api/ashlar/' },
  ...ENTRIES.map((entry) => ({ text: `ashlar/${entry}`, link: `/reference/api/ashlar/${entry}/` })),
]

const DESCRIPTION =
  'Decorated TypeORM entities become multi-tenant gRPC and HTTP/JSON services that deny by default'

const decisions = readdirSync(join(docs, 'decisions'))
  .filter((file) => file.endsWith('.md') && file !== 'README.md')
  .map((file) => `decisions/${file.slice(0, -3)}`)
  .map((page) => ({ text: headingOf(page), link: `/${page}` }))
  .sort((a, b) => a.text.localeCompare(b.text))

export default defineConfig({
  title: 'Ashlar',
  description: DESCRIPTION,
  outDir: 'dist',
  cacheDir: 'node_modules/.vitepress',
  srcExclude: ['**/node_modules/**', 'dist/**'],
  // The list of decisions is a README, which is shown where the folder is looked at.
  rewrites: { 'decisions/README.md': 'decisions/index.md' },
  cleanUrls: false,
  // A picture for each of the two themes, which is scrolled where it would be too small to read.
  head: [['style', {}, PICTURES]],
  ignoreDeadLinks: 'localhostLinks',
  // What stands in angle brackets is a name and no element.
  markdown: { html: false, anchor: { slugify }, config: (markdown) => markdown.use(sourceLinks) },
  themeConfig: {
    search: { provider: 'local', options: { miniSearch } },
    outline: [2, 3],
    nav: [
      { text: 'Guides', link: '/guides/getting-started', activeMatch: '^/guides/' },
      { text: 'Reference', link: '/reference/server', activeMatch: '^/reference/' },
      { text: 'How it works', link: '/internals/life-of-a-request', activeMatch: '^/(internals|decisions)/' },
      { text: 'Changes', link: '/source/CHANGELOG' },
    ],
    sidebar: sidebarOf(
      { text: 'API', collapsed: true, items: api },
      { text: 'Decisions', collapsed: true, items: [{ text: 'All', link: '/decisions/' }, ...decisions] },
    ),
  },
  buildEnd: ({ outDir }) => writeFileSync(join(outDir, 'llms.txt'), llmsText(DESCRIPTION)),
})

/** Anchors as GitHub makes them, where the same pages are read too. */
function slugify(heading) {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M} _-]/gu, '')
    .replaceAll(' ', '-')
}

/** A link to a file outside of this folder leads to the page that shows it. */
function sourceLinks(markdown) {
  markdown.core.ruler.push('source-links', ({ tokens, env }) => {
    for (const { children } of tokens)
      for (const token of children ?? []) {
        const href = token.type === 'link_open' ? token.attrGet('href') : null
        if (href === null || /^([a-z]+:|[/#])/.test(href)) continue
        const [path, hash] = href.split('#')
        const file = relative(docs, join(dirname(env.path), path))
        if (!file.startsWith('../')) {
          token.attrSet('href', href.replace('/README.md', '/'))
          continue
        }
        const page = file.slice('../'.length).replace(/\.md$/, '')
        token.attrSet('href', `/source/${page}.html${hash === undefined ? '' : `#${hash}`}`)
      }
  })
}
