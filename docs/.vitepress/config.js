import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'

const docs = join(dirname(fileURLToPath(import.meta.url)), '..')

/** The pages of a folder, called by their headings. What `first` names comes first, the rest by its heading. */
function pagesOf(folder, first = []) {
  const rank = (name) => (first.includes(name) ? first.indexOf(name) : first.length)
  return readdirSync(join(docs, folder))
    .filter((file) => file.endsWith('.md') && !/^(README|index|\[.*)\.md$/.test(file))
    .map((file) => ({ name: file.slice(0, -3), text: headingOf(join(docs, folder, file)) }))
    .sort((a, b) => rank(a.name) - rank(b.name) || a.text.localeCompare(b.text))
    .map(({ name, text }) => ({ text, link: `/${folder}/${name}` }))
}

const headingOf = (path) => (/^# (.+)$/m.exec(readFileSync(path, 'utf8'))?.[1] ?? path).replaceAll('`', '')

const GUIDES = [
  ...[
    'getting-started',
    'existing-application',
    'modelling',
    'resource-names',
    'relations',
    'business-rules',
    'tenancy',
    'secrets',
  ],
  ...['testing', 'events', 'connect', 'openapi', 'clients', 'other-languages', 'nest', 'installing'],
  ...['migrations', 'operating', 'telemetry', 'scaling', 'development'],
]
const REFERENCE = [
  'entities',
  'typeorm',
  'persistence',
  'server',
  'gateway',
  'protos',
  'aips',
  'errors',
  'cli',
]
const INTERNALS = ['comparison', 'life-of-a-request', 'packages']
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

export default defineConfig({
  title: 'Ashlar',
  description:
    'Decorated TypeORM entities become multi-tenant gRPC and HTTP/JSON services that deny by default',
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
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Guides', link: '/guides/getting-started', activeMatch: '^/guides/' },
      { text: 'Reference', link: '/reference/server', activeMatch: '^/reference/' },
      { text: 'How it works', link: '/internals/life-of-a-request', activeMatch: '^/(internals|decisions)/' },
      { text: 'Changes', link: '/source/CHANGELOG' },
    ],
    sidebar: {
      '/guides/': [{ text: 'Guides', items: pagesOf('guides', GUIDES) }],
      '/reference/': [
        { text: 'Reference', items: pagesOf('reference', REFERENCE) },
        { text: 'API', items: api },
      ],
      '/internals/': howItWorks(),
      '/decisions/': howItWorks(),
    },
  },
})

function howItWorks() {
  return [
    { text: 'How it works', items: pagesOf('internals', INTERNALS) },
    {
      text: 'Decisions',
      collapsed: false,
      items: [{ text: 'All', link: '/decisions/' }, ...pagesOf('decisions')],
    },
  ]
}

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
