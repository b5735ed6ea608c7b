import { expect } from 'chai'
import fc from 'fast-check'
import { Failure } from '../../../cli/errors/failure.js'
import { clientsOf, nameableRoutes, titleOf } from '../../../cli/idp/clients.js'
import { toClientsFile } from '../../../cli/idp/to-clients-file.js'
import type { Route, Tile } from '../../../cli/idp/routes/route.js'
import { drill } from '../../support/drill.js'

const route = (host: string, more: Partial<Route> = {}): Route => ({
  host,
  path: '',
  upstream: 'http://127.0.0.1:3000',
  protocol: 'http',
  project: '',
  fromFile: false,
  ...more,
})

const tile = (more: Partial<Tile>): Tile => ({
  displayName: '',
  description: '',
  iconURL: '',
  launchURL: '',
  ...more,
})

/** Every order of the routes. */
const ordersOf = (routes: readonly Route[]): readonly (readonly Route[])[] =>
  routes.length < 2
    ? [routes]
    : routes.flatMap((first, index) => ordersOf(routes.toSpliced(index, 1)).map((rest) => [first, ...rest]))

/** Name, routes, and each client as `client_id name launch_url`. */
const APPS: readonly (readonly [string, readonly Route[], readonly string[]])[] = [
  ['no routes', [], []],
  ['a host without a project', [route('notes.dev.test')], ['notes Notes https://notes.dev.test/']],
  ['a project', [route('web.dev.test', { project: 'shop' })], ['shop Shop https://web.dev.test/']],
  [
    'TCP routes',
    [route('db.dev.test', { protocol: 'tcp' }), route('a.dev.test')],
    ['a A https://a.dev.test/'],
  ],
  ['a TCP route without a dot', [route('db', { protocol: 'tcp' })], []],
  ['an IPv4 host', [route('10.0.0.5')], ['10.0.0.5 10.0.0.5 https://10.0.0.5/']],
  [
    'two IPv4 hosts',
    [route('10.0.0.6'), route('10.0.0.5')],
    ['10.0.0.5 10.0.0.5 https://10.0.0.5/', '10.0.0.6 10.0.0.6 https://10.0.0.6/'],
  ],
  ['an IPv6 host', [route('[::1]')], ['::1 ::1 https://[::1]/']],
  ['an IPv4 host with a project', [route('10.0.0.5', { project: 'lab' })], ['lab Lab https://10.0.0.5/']],
  [
    'a tile before a route without a path',
    [
      route('b.dev.test', { project: 'p' }),
      route('c.dev.test', { project: 'p', path: '/x', tile: tile({ displayName: 'T' }) }),
    ],
    ['p T https://c.dev.test/'],
  ],
  [
    'no path before a path',
    [route('a.dev.test', { project: 'p', path: '/api' }), route('b.dev.test', { project: 'p' })],
    ['p P https://b.dev.test/'],
  ],
  [
    'the first host',
    [route('b.dev.test', { project: 'p' }), route('a.dev.test', { project: 'p' })],
    ['p P https://a.dev.test/'],
  ],
  [
    'the first host among tiles',
    [
      route('b.dev.test', { project: 'p', tile: tile({ displayName: 'B' }) }),
      route('a.dev.test', { project: 'p', tile: tile({ displayName: 'A' }) }),
    ],
    ['p A https://a.dev.test/'],
  ],
  [
    'the first path',
    [
      route('a.dev.test', { project: 'p', path: '/y', tile: tile({ displayName: 'Y' }) }),
      route('a.dev.test', { project: 'p', path: '/x', tile: tile({ displayName: 'X' }) }),
    ],
    ['p X https://a.dev.test/'],
  ],
  [
    'a file before the daemon',
    [
      route('a.dev.test', { project: 'p', tile: tile({ displayName: 'Before' }) }),
      route('a.dev.test', { project: 'p', tile: tile({ displayName: 'Edited' }), fromFile: true }),
    ],
    ['p Edited https://a.dev.test/'],
  ],
  [
    'the same host with and without its project',
    [route('shop.dev.test'), route('shop.dev.test', { project: 'shop' })],
    ['shop Shop https://shop.dev.test/'],
  ],
  [
    'apps in the order of their names',
    [route('b.dev.test'), route('B.dev.test', { project: 'Z' }), route('a.dev.test')],
    ['Z Z https://B.dev.test/', 'a A https://a.dev.test/', 'b B https://b.dev.test/'],
  ],
  [
    'a launch URL of its own',
    [route('a.dev.test', { tile: tile({ launchURL: 'https://a.dev.test/today' }) })],
    ['a A https://a.dev.test/today'],
  ],
]

const COLLISIONS: readonly (readonly [string, readonly Route[], RegExp])[] = [
  [
    'two hosts with the same first label',
    [route('web.shop.test'), route('web.blog.test')],
    /^web\.blog\.test and web\.shop\.test would both be the client "web": give web\.blog\.test a project/,
  ],
  [
    'a host whose first label is the project of another',
    [route('shop.other.test'), route('www.dev.test', { project: 'shop' })],
    /give shop\.other\.test a project of its own/,
  ],
]

describe('clientsOf', () => {
  for (const [name, routes, clients] of APPS)
    it(`makes clients of ${name}, whatever the order`, () => {
      for (const order of ordersOf(routes))
        expect(
          clientsOf(order).map(
            (client) => `${client.client_id} ${client.tile.name} ${client.tile.launch_url}`,
          ),
        ).to.deep.equal(clients)
    })

  it('fills every field', () => {
    const full = tile({
      displayName: 'Notes!',
      description: 'Write',
      iconURL: 'https://n.test/i.svg',
      launchURL: 'https://n.test/go',
    })
    expect(clientsOf([route('notes.dev.test', { path: '/app', tile: full })])).to.deep.equal([
      {
        client_id: 'notes',
        client_secret: 'dev-secret-notes',
        redirect_uris: ['https://notes.dev.test/callback'],
        tile: {
          name: 'Notes!',
          description: 'Write',
          icon_url: 'https://n.test/i.svg',
          launch_url: 'https://n.test/go',
        },
      },
    ])
  })

  for (const [name, routes, message] of COLLISIONS)
    it(`refuses ${name}, whatever their order`, () => {
      for (const order of ordersOf(routes))
        expect(() => clientsOf(order))
          .to.throw(Failure, message)
          .with.property('exit', 'input')
    })

  it('leaves out a project that no sign-in could name, and says so', () => {
    const leftOut: string[] = []
    const routes = [route('a.dev.test', { project: 'a\nb' }), route('b.dev.test', { project: 'b' })]
    expect(nameableRoutes(routes, (why) => leftOut.push(why))).to.deep.equal([routes[1]])
    expect(leftOut.join()).to.include('the project of a.dev.test contains control characters')
  })

  it('makes the same bytes of any order of the same routes', () => {
    const hosts = ['a.dev.test', 'b.dev.test', '10.0.0.5', '[::1]']
    const routes = ['p', 'q', 'r'].flatMap((project) =>
      hosts.flatMap((host) =>
        ['', '/x', '/y'].flatMap((path) => [
          route(host, { project, path }),
          route(host, { project, path, fromFile: true }),
          route(host, { project, path, tile: tile({ displayName: `${project}1` }) }),
          route(host, { project, path, tile: tile({ displayName: `${project}2`, description: 'more' }) }),
        ]),
      ),
    )
    const expected = toClientsFile(clientsOf(routes))
    const anyOrder = fc.shuffledSubarray([...routes], { minLength: routes.length, maxLength: routes.length })
    fc.assert(
      fc.property(anyOrder, (shuffled) => toClientsFile(clientsOf(shuffled)) === expected),
      { numRuns: drill(1_000, 10_000) },
    )
  })
})

const TITLES: readonly (readonly [string, string])[] = [
  ['notes', 'Notes'],
  ['notes-app', 'Notes App'],
  ['my_notes  app', 'My Notes App'],
  ['NOTES', 'NOTES'],
  ['notes.app', 'Notes.app'],
  ['élan', 'Élan'],
  ['𐐨x', '𐐀x'],
  ['--', '--'],
]

describe('titleOf', () => {
  for (const [name, title] of TITLES)
    it(`calls ${name} ${title}`, () => {
      expect(titleOf(name)).to.equal(title)
    })
})
