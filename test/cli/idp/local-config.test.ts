import { expect } from 'chai'
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Failure } from '../../../cli/errors/failure.js'
import { parseLocalConfig, readLocalConfig } from '../../../cli/idp/local-config.js'

const HEAD = 'apiVersion: devedge.infoblox.dev/v1alpha1\n'
const config = (spec: string, kind = 'Config'): string =>
  `${HEAD}kind: ${kind}\nmetadata: { name: shop }\nspec:\n${spec}`
const ROUTE = '  routes:\n    - host: web.dev.test\n      upstream: http://127.0.0.1:3000\n'
const SHELL = '  host: desk.dev.test\n  shellUpstream: http://127.0.0.1:4200\n'

const read = (text: string): ReturnType<typeof parseLocalConfig> => parseLocalConfig(text, 'devedge.yaml')

describe('parseLocalConfig', () => {
  it('reads every key of a route', () => {
    const tile =
      '      tile: { displayName: Shop, description: Buy, iconURL: /i.svg, launchURL: "https://web.dev.test/go" }\n'
    expect(read(config(`${ROUTE}      path: /app\n      protocol: HTTP\n${tile}`))).to.deep.equal({
      routes: [
        {
          host: 'web.dev.test',
          path: '/app',
          upstream: 'http://127.0.0.1:3000',
          protocol: 'http',
          project: 'shop',
          tile: {
            displayName: 'Shop',
            description: 'Buy',
            iconURL: '/i.svg',
            launchURL: 'https://web.dev.test/go',
          },
          fromFile: true,
        },
      ],
      notes: [],
    })
  })

  const ROUTES: readonly (readonly [string, string, readonly string[]])[] = [
    ['Config', config(ROUTE), ['shop web.dev.test']],
    ['Config without routes', config('  routes: []\n'), []],
    ['Service', config(`  dev: { hostname: web.dev.test }\n${ROUTE}`, 'Service'), ['shop web.dev.test']],
    ['Service without routes', config('  dev: { hostname: web.dev.test }\n', 'Service'), []],
    ['Shell', config(SHELL, 'Shell'), ['shop desk.dev.test']],
    [
      'Shell with its other hosts',
      config(`${SHELL}  cdn: { host: cdn.dev.test }\n  ufes: []\n`, 'Shell'),
      ['shop desk.dev.test'],
    ],
    [
      'a TCP route',
      config('  routes: [{ host: db, upstream: "127.0.0.1:5432", protocol: tcp }]\n'),
      ['shop db'],
    ],
    ['a route at /', config(`${ROUTE}      path: /\n`), ['shop web.dev.test']],
    [
      'a merge key',
      config(
        `${ROUTE}    - &a { host: b.dev.test, upstream: "http://127.0.0.1" }\n    - { <<: *a, path: /x }\n`,
      ),
      ['shop web.dev.test', 'shop b.dev.test', 'shop b.dev.test/x'],
    ],
    [
      'several documents',
      `${config(ROUTE)}---\n${config(SHELL, 'Shell')}---\n`,
      ['shop web.dev.test', 'shop desk.dev.test'],
    ],
  ]
  for (const [name, text, routes] of ROUTES)
    it(`reads ${name}`, () => {
      expect(read(text).routes.map(({ project, host, path }) => `${project} ${host}${path}`)).to.deep.equal(
        routes,
      )
    })

  it('gives a Shell the tile of its spec', () => {
    const [route] = read(config(`${SHELL}  tile: { displayName: Desk }\n`, 'Shell')).routes
    expect(route?.tile?.displayName).to.equal('Desk')
  })

  for (const tile of ['', ' {}', ' { displayName: "" }', ' { displayName: "  " }', ' { display_name: Shop }'])
    it(`finds no tile in "tile:${tile}"`, () => {
      expect(read(config(`${ROUTE}      tile:${tile}\n`)).routes[0]).to.not.have.property('tile')
    })

  it('leaves the project open when metadata has no name, and says so', () => {
    const { routes, notes } = read(`${HEAD}kind: Config\nspec:\n${ROUTE}`)
    expect(routes.map(({ project }) => project)).to.deep.equal([''])
    expect(notes).to.deep.equal([
      'devedge.yaml: metadata.name is missing: each app is named by the first label of its host',
    ])
  })

  const NOTES: readonly (readonly [string, string, string])[] = [
    [
      'display_name',
      config(`${ROUTE}      tile: { display_name: X }\n`),
      'spec.routes[0].tile.display_name is an unknown key and is ignored: did you mean displayName?',
    ],
    [
      'iconUrl',
      config(`${ROUTE}      tile: { iconUrl: X }\n`),
      'spec.routes[0].tile.iconUrl is an unknown key and is ignored: did you mean iconURL?',
    ],
    [
      'launchUrl',
      config(`${ROUTE}      tile: { launchUrl: X }\n`),
      'spec.routes[0].tile.launchUrl is an unknown key and is ignored: did you mean launchURL?',
    ],
    [
      'colour',
      config(`${ROUTE}      tile: { colour: X }\n`),
      'spec.routes[0].tile.colour is an unknown key and is ignored: valid keys are displayName, description, iconURL, launchURL',
    ],
    [
      'tiles of a route',
      config(`${ROUTE}      tiles: {}\n`),
      'spec.routes[0].tiles is an unknown key and is ignored: did you mean tile?',
    ],
    [
      'route beside routes',
      config(`${ROUTE}  route: []\n`),
      'spec.route is an unknown key and is ignored: did you mean routes?',
    ],
    [
      'a key of the document',
      `${config(ROUTE)}meta: {}\n`,
      'meta is an unknown key and is ignored: valid keys are apiVersion, kind, metadata, spec',
    ],
    [
      'a key of metadata',
      config(ROUTE).replace('name: shop', 'name: shop, lables: {}'),
      'metadata.lables is an unknown key and is ignored: did you mean labels?',
    ],
    [
      'tile of a Shell',
      config(`${SHELL}  tiel: { displayName: X }\n`, 'Shell'),
      'spec.tiel is an unknown key and is ignored: did you mean tile?',
    ],
    [
      '__proto__',
      config(`${ROUTE}      __proto__: { host: evil }\n`),
      'spec.routes[0].__proto__ is an unknown key and is ignored: valid keys are host, path, upstream, protocol, tile, stripPrefix, backendTLS, mode',
    ],
  ]
  for (const [name, text, note] of NOTES)
    it(`ignores ${name} and says what is known`, () => {
      expect(read(text).notes).to.deep.equal([`devedge.yaml: ${note}`])
    })

  const FAILURES: readonly (readonly [string, string, RegExp])[] = [
    ['nothing', '', /^devedge\.yaml is empty/],
    ['a comment only', '# nothing yet\n', /is empty/],
    ['empty documents', '---\n---\n', /is empty/],
    ['a list', '- a\n', /the document is not a mapping/],
    ['text', 'hello', /the document is not a mapping/],
    [
      'YAML that ends too early',
      config('  routes:\n    - host: "web.dev'),
      /^devedge\.yaml is not valid YAML: Missing closing "quote at line 6/,
    ],
    ['a key twice', `${config(ROUTE)}kind: Shell\n`, /is not valid YAML: Map keys must be unique at line/],
    [
      'aliases that explode',
      `${HEAD}a: &a [x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c]\n`,
      /is not valid YAML: Excessive alias count/,
    ],
    ['nesting without end', '['.repeat(10_000), /is not valid YAML/],
    ['no apiVersion', 'kind: Config\n', /apiVersion is missing/],
    [
      'another apiVersion',
      'apiVersion: v1\nkind: Config\n',
      /apiVersion "v1" is not supported: use devedge\.infoblox\.dev\/v1alpha1/,
    ],
    ['no kind', HEAD, /kind is missing/],
    ['a kind of another case', `${HEAD}kind: shell\n`, /kind "shell" is not known: did you mean Shell\?/],
    [
      'an unknown kind',
      `${HEAD}kind: Composition\n`,
      /kind "Composition" is not known: use Config, Service, Shell/,
    ],
    ['a kind of every object', `${HEAD}kind: constructor\n`, /kind "constructor" is not known/],
    ['no spec', `${HEAD}kind: Config\nmetadata: { name: a }\n`, /spec is missing: is the file complete\?/],
    ['an empty spec', config(''), /spec is missing: is the file complete\?/],
    ['no routes', config('  defaults: {}\n'), /spec\.routes is missing: list at least one route/],
    ['routes that are not a list', config('  routes: { host: a.dev.test }\n'), /spec\.routes is not a list/],
    ['a route that is null', config('  routes:\n    -\n'), /spec\.routes\[0\] is not a mapping/],
    [
      'a route without a host',
      config('  routes: [{ upstream: "http://127.0.0.1" }]\n'),
      /spec\.routes\[0\]\.host is missing: add it/,
    ],
    [
      'a misspelt host',
      config('  routes: [{ hots: a.dev.test, upstream: "http://127.0.0.1" }]\n'),
      /host is missing \(there is "hots"\)/,
    ],
    [
      'a route without an upstream',
      config('  routes: [{ host: a.dev.test }]\n'),
      /spec\.routes\[0\]\.upstream is missing/,
    ],
    [
      'an upstream that is not a URL',
      config('  routes: [{ host: a.dev.test, upstream: "127.0.0.1:3000" }]\n'),
      /spec\.routes\[0\]\.upstream: "127\.0\.0\.1:3000"/,
    ],
    [
      'a host without a dot',
      config('  routes: [{ host: web, upstream: "http://127.0.0.1" }]\n'),
      /spec\.routes\[0\]\.host: "web"/,
    ],
    [
      'a host that is a number',
      config('  routes: [{ host: 12.5, upstream: "http://127.0.0.1" }]\n'),
      /spec\.routes\[0\]\.host is not a string: put it in quotes/,
    ],
    [
      'an unknown protocol',
      config(`${ROUTE}      protocol: udp\n`),
      /spec\.routes\[0\]\.protocol "udp" is not known: use http or tcp/,
    ],
    ['a tile that is text', config(`${ROUTE}      tile: Shop\n`), /spec\.routes\[0\]\.tile is not a mapping/],
    [
      'a tile key that is not a string',
      config(`${ROUTE}      tile: { displayName: 42 }\n`),
      /tile\.displayName is not a string/,
    ],
    [
      'a link that runs code',
      config(`${ROUTE}      tile: { launchURL: " JavaScript:alert(1)" }\n`),
      /tile\.launchURL: a javascript: link is not shown/,
    ],
    [
      'a launch link that is data',
      config(`${ROUTE}      tile: { launchURL: "data:text/html,x" }\n`),
      /tile\.launchURL: a data: link/,
    ],
    [
      'a project that is a number',
      config(ROUTE).replace('name: shop', 'name: 7'),
      /metadata\.name is not a string/,
    ],
    [
      'a Shell without a host',
      config('  shellUpstream: http://127.0.0.1\n', 'Shell'),
      /spec\.host is missing/,
    ],
    [
      'a Shell without an upstream',
      config('  host: a.dev.test\n', 'Shell'),
      /spec\.shellUpstream is missing/,
    ],
  ]
  for (const [name, text, message] of FAILURES)
    it(`refuses ${name}`, () => {
      expect(() => read(text))
        .to.throw(Failure, message)
        .with.property('exit', 'input')
      expect(() => read(text)).to.throw(/^devedge\.yaml/)
    })
})

describe('readLocalConfig', () => {
  let folder: string
  before(() => (folder = mkdtempSync(join(tmpdir(), 'ashlar-config-'))))
  after(() => rmSync(folder, { recursive: true }))

  it('says that a file is not there', () => {
    expect(() => readLocalConfig(join(folder, 'none.yaml'), 'none.yaml')).to.throw(
      Failure,
      'there is no file none.yaml: check --config',
    )
  })

  it('refuses a folder', () => {
    expect(() => readLocalConfig(folder, 'routes')).to.throw(Failure, 'routes is not a file')
  })

  it('refuses a device that never ends', () => {
    expect(() => readLocalConfig('/dev/zero', '/dev/zero')).to.throw(Failure, '/dev/zero is not a file')
  })

  it('refuses a file that is far too large', () => {
    const file = join(folder, 'large.yaml')
    writeFileSync(file, '')
    truncateSync(file, (1 << 20) + 1)
    expect(() => readLocalConfig(file, 'large.yaml')).to.throw(Failure, 'large.yaml is larger than 1 MiB')
  })
})
