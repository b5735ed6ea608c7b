import type { Permission } from '../../lib/server/index.js'

export type CatalogFormat = 'table' | 'json' | 'markdown'

/** The formats of a catalog. Each ends with a newline. */
export const CATALOG_FORMATS: Readonly<
  Record<CatalogFormat, (permissions: readonly Permission[]) => string>
> = {
  table: (permissions) => {
    const rows = [HEAD, ...permissions.map(cells)]
    const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
    return lines(
      rows.map((row) =>
        row
          .map((cell, at) => cell.padEnd(widths[at] ?? 0))
          .join('  ')
          .trimEnd(),
      ),
    )
  },
  json: (permissions) => `${JSON.stringify(permissions, null, 2)}\n`,
  markdown: (permissions) => {
    const row = (texts: readonly string[]) => `| ${texts.join(' | ')} |`
    const code = (text: string) => (text === '' ? '' : `\`${text}\``)
    return lines([
      row(HEAD),
      row(HEAD.map(() => '---')),
      ...permissions.map((one) => {
        const [service = '', method = '', verb = '', resource = '', access = ''] = cells(one)
        return row([code(service), code(method), code(verb), code(resource), access])
      }),
    ])
  },
}

const HEAD = ['service', 'method', 'verb', 'resource', 'who']

const cells = ({ service, method, verb, resource, public: isPublic, declared }: Permission) => [
  service,
  method,
  verb,
  resource,
  isPublic ? 'everybody' : declared ? 'who is granted it' : 'undeclared',
]

const lines = (texts: readonly string[]): string => texts.map((text) => `${text}\n`).join('')
