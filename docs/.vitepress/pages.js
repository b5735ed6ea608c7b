import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const docs = join(dirname(fileURLToPath(import.meta.url)), '..')

const guides = (...names) => names.map((name) => `guides/${name}`)
const reference = (...names) => names.map((name) => `reference/${name}`)

/** Every page, in the groups of the sidebar. A test compares the list with the folders. */
export const GROUPS = [
  {
    text: 'Start',
    pages: guides(
      ...['getting-started', 'installing', 'existing-application', 'existing-tables', 'coming-from-nest'],
      ...['not-starting', 'missing'],
    ),
  },
  {
    text: 'Build',
    pages: guides(
      ...[
        'modelling',
        'keys',
        'gapless-numbers',
        'resource-names',
        'relations',
        'reading-related',
        'deleting',
      ],
      ...['references-across-services', 'business-rules', 'operation-rules', 'rules-across-rows', 'tenancy'],
      ...['authorization', 'row-authorization', 'identity-providers', 'sign-in', 'secrets', 'encryptors'],
      ...[
        'events',
        'delivering-events',
        'consuming-events',
        'events-in-a-project',
        'testing',
        'security-check',
        'clients',
        'other-languages',
        'connect',
        'openapi',
        'nest',
      ],
    ),
  },
  {
    text: 'Run',
    pages: guides(
      ...[
        'deploying',
        'operating',
        'operating-events',
        'scaling',
        'telemetry',
        'migrations',
        'changing-tables',
        'backfills',
      ],
      ...['trying-migrations', 'failed-migrations', 'database-takeover', 'rotation'],
    ),
  },
  {
    text: 'Reference',
    pages: reference(
      ...['entities', 'columns', 'typeorm', 'typeorm-options', 'protos'],
      ...['persistence', 'transactions', 'hooks', 'connections', 'filters', 'search'],
      ...['server', 'handlers', 'validation', 'limits', 'idempotency', 'gateway', 'errors'],
      ...['migrations', 'migrate-output', 'search-migrations', 'cli', 'aips', 'glossary'],
    ),
  },
  {
    text: 'Inside',
    pages: [
      ...['comparison', 'life-of-a-request', 'coalesced-calls', 'rows', 'packages', 'kinds', 'new-engine'],
      ...['benchmarks', 'measurements', 'development'],
    ].map((name) => `internals/${name}`),
  },
]

const textOf = (page) => readFileSync(join(docs, `${page}.md`), 'utf8')

export const headingOf = (page) => (/^# (.+)$/m.exec(textOf(page))?.[1] ?? page).replaceAll('`', '')

/** The sidebar: the groups, and below them the API and the decisions. */
export const sidebarOf = (...more) => [
  ...GROUPS.map(({ text, pages }) => ({
    text,
    collapsed: false,
    items: pages.map((page) => ({ text: headingOf(page), link: `/${page}` })),
  })),
  ...more,
]

/** `llms.txt`: the pages with their first sentence, for programs that read the site. */
export const llmsText = (description) =>
  [
    '# Ashlar',
    `> ${description}`,
    ...GROUPS.map(
      ({ text, pages }) =>
        `## ${text}\n\n${pages.map((page) => `- [${headingOf(page)}](/${page}.html): ${firstSentenceOf(page)}`).join('\n')}`,
    ),
  ].join('\n\n') + '\n'

function firstSentenceOf(page) {
  const paragraph = textOf(page)
    .replace(/^# .*$/m, '')
    .trim()
    .split('\n\n')[0]
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
  return (/^.*?\.(?= |$)/.exec(paragraph)?.[0] ?? paragraph).replace(/:$/, '.')
}

/**
 * How the site is searched: guides come before the reference, and both before members of the API. The functions
 * are sent to the browser as text, so they name nothing around them.
 */
export const miniSearch = {
  searchOptions: {
    fuzzy: (word) => word.length > 5 && 0.2,
    prefix: true,
    boost: { title: 4, text: 1, titles: 2 },
    boostDocument: (id) =>
      id.startsWith('/guides/')
        ? 3
        : /^\/reference\/(?!api\/)/.test(id)
          ? 2
          : id.startsWith('/reference/api/') || id.startsWith('/source/')
            ? 0.1
            : 0.5,
  },
}
