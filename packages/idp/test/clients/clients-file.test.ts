import { expect } from 'chai'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { clientsFile, parseClients } from '../../lib/clients/clients-file.js'
import { isOwnOrigin, isRegistered } from '../../lib/clients/origins.js'
import { initialsOf, tilesOf } from '../../lib/clients/tiles.js'

const clientOf = (text: string) => [...parseClients(text).value.values()][0]

describe('a clients file', () => {
  it('has scalars as text, as written', () => {
    const { value, problems } = parseClients(
      '- client_id: 0123\n  client_secret: 1.50\n- client_id: true\n- client_id: 1_0',
    )
    expect([...value.keys()]).to.deep.equal(['0123', 'true', '1_0'])
    expect(value.get('0123')?.secret).to.equal('1.50')
    expect(problems).to.deep.equal([])
  })

  it('has merge keys', () => {
    const text =
      '- &base\n  client_id: one\n  client_secret: s\n  redirect_uris: [https://a.test/]\n- <<: *base\n  client_id: two'
    expect(parseClients(text).value.get('two')).to.deep.include({
      secret: 's',
      redirectUris: ['https://a.test/'],
    })
  })

  for (const secret of ['', 'client_secret:', 'client_secret: ""', 'client_secret: ~', 'client_secret: null'])
    it(`a client is public with ${secret || 'no client_secret'}`, () => {
      expect(clientOf(`- client_id: a\n  ${secret}\n`)?.secret).to.equal(undefined)
    })

  const LEFT_OUT: readonly (readonly [string, string])[] = [
    ['- client_secret: x', 'it has no client_id'],
    ['- client_id: [a]', 'it has no client_id'],
    ['- plain', 'not a mapping'],
    ['- client_id: Müller', 'printable ASCII'],
    ['- client_id: a\n  redirect_uris: [/callback]', 'not an absolute address'],
    ['- client_id: a\n  redirect_uris: ["javascript:alert(1)"]', 'javascript: address'],
    ['- client_id: a\n  redirect_uris: ["https://a.test/#x"]', 'fragment'],
    ['- client_id: a\n  redirect_uris: ["https://u:p@a.test/"]', 'user name'],
    ['- client_id: a\n  tile: x', 'tile is not a mapping'],
  ]
  for (const [text, why] of LEFT_OUT)
    it(`leaves out ${JSON.stringify(text)}, and keeps the others`, () => {
      const { value, unusable } = parseClients(`${text}\n- client_id: good\n`)
      expect([...value.keys()]).to.deep.equal(['good'])
      expect(unusable).to.have.length(1)
      expect(unusable[0]).to.include(why)
    })

  it('a second entry with the same id, and an unknown key, are named', () => {
    const { value, problems, unusable } = parseClients('- client_id: a\n  redirect_uri: x\n- client_id: a\n')
    expect(value.size).to.equal(1)
    expect(problems.join('\n')).to.include('"redirect_uri" is ignored')
    expect(unusable.join('\n')).to.include('another entry')
  })

  it('keeps the last clients of which all could be used, and reports each broken edit once', () => {
    const folder = mkdtempSync(join(tmpdir(), 'clients-'))
    const path = join(folder, 'clients.yaml')
    const reported: string[] = []
    const file = clientsFile(path, 'clients.yaml', (problem) => reported.push(problem))
    const ids = () => [...file.read().value.keys()]
    expect(ids()).to.deep.equal([])
    writeFileSync(path, '- client_id: first\n- client_id: [x]\n')
    expect(ids()).to.deep.equal(['first'])
    expect(reported.splice(0)).to.deep.equal(['clients.yaml: left out: entry 2: it has no client_id'])
    writeFileSync(path, '- client_id: good\n- client_id: other\n')
    expect(ids()).to.deep.equal(['good', 'other'])
    expect(reported).to.deep.equal([])
    const broken = ['', '# x\n', '{', '- [a', 'a: b', '"x"', '- client_id: good\n- client_id: good\n']
    for (const text of [...broken, ...LEFT_OUT.map(([entry]) => `${entry}\n- client_id: good\n`)]) {
      writeFileSync(path, text)
      for (let times = 0; times < 2; times++) expect(ids(), text).to.deep.equal(['good', 'other'])
    }
    rmSync(path)
    for (let times = 0; times < 2; times++) expect(ids()).to.deep.equal(['good', 'other'])
    expect(new Set(reported).size).to.be.greaterThan(10)
    for (const problem of reported) expect(problem).to.include('The last good version stays in effect.')
    writeFileSync(path, '[]')
    expect([ids(), file.read().problems]).to.deep.equal([[], []])
    rmSync(folder, { recursive: true })
  })

  for (const text of ['', '- client_id: a\n---\n- client_id: b', 'a: b', '{', '- [a', '"x"', '- &a [*a, *b]'])
    it(`is refused as a whole: ${text}`, () => {
      expect(() => parseClients(text)).to.throw(/list|not valid YAML/)
    })
})

describe('addresses of a client', () => {
  const client = clientOf(`
- client_id: a
  redirect_uris:
    - http://localhost:3000/callback
    - https://orders.localhost/callback?x=1
    - http://127.0.0.1/cb
    - http://[::1]:9/cb
    - https://app.dev.test/callback
`)
  if (client === undefined) throw new Error('the client was not read')
  const CASES: readonly (readonly [string, boolean])[] = [
    ['http://localhost:3000/callback', true],
    ['http://localhost:4000/callback', true],
    ['http://localhost/callback', true],
    ['https://orders.localhost:8443/callback?x=1', true],
    ['http://127.0.0.1:65535/cb', true],
    ['http://[::1]:10/cb', true],
    ['https://app.dev.test/callback', true],
    ['https://app.dev.test:8443/callback', false],
    ['https://localhost:3000/callback', false],
    ['http://localhost:3000/callback/', false],
    ['http://localhost:3000/callback?x', false],
    ['http://localhost:3000/callback#x', false],
    ['http://localhost:3000/../callback', false],
    ['http://LOCALHOST:3000/callback', false],
    ['http://localhost:65536/callback', false],
    ['http://localhost:0/callback', false],
    ['http://localhost:080/callback', false],
    ['http://localhost:3000@evil.example/callback', false],
    ['http://localhost.evil.example/callback', false],
    ['https://orders.localhost/callback', false],
    ['https://evil.orders.localhost/callback?x=1', false],
  ]
  for (const [uri, expected] of CASES)
    it(`${uri} is ${expected ? '' : 'not '}registered`, () => {
      expect(isRegistered(client, uri)).to.equal(expected)
    })

  const ORIGINS: readonly (readonly [string, boolean])[] = [
    ['https://app.dev.test/bye', true],
    ['http://localhost:5000/', true],
    ['https://app.dev.test.evil.example/', false],
    ['https://app.dev.test:8443/', false],
    ['https://u@app.dev.test/', false],
    ['https:\\\\app.dev.test', false],
    ['javascript://app.dev.test/%0aalert(1)', false],
    ['//app.dev.test/', false],
  ]
  for (const [uri, expected] of ORIGINS)
    it(`${uri} is ${expected ? '' : 'not '}of its own origin`, () => {
      expect(isOwnOrigin(client, uri)).to.equal(expected)
    })
})

describe('tiles', () => {
  const place = { issuer: 'http://127.0.0.1:8080', host: 'idp.dev.test' }
  const tilesIn = (text: string) => tilesOf(parseClients(text).value.values(), place)

  it('have a link to http and https alone, and an icon of the own origin alone', () => {
    const [tile] = tilesIn(
      '- client_id: a\n  redirect_uris: [https://a.test/cb]\n  tile: {name: A, launch_url: "javascript:alert(1)", icon_url: "https://b.test/i.svg"}',
    )
    expect(tile).to.include({ launchUrl: '', iconUrl: '' })
    const [own] = tilesIn(
      '- client_id: a\n  redirect_uris: [https://a.test/cb]\n  tile: {name: A, launch_url: "https://a.test/", icon_url: "https://a.test/i.svg"}',
    )
    expect(own).to.include({ launchUrl: 'https://a.test/', iconUrl: 'https://a.test/i.svg' })
  })

  it('leave out the provider itself, and a client without a tile', () => {
    const text = `
- {client_id: idp, tile: {name: x}}
- {client_id: a, redirect_uris: ["https://idp.dev.test/callback"], tile: {name: x}}
- {client_id: b, redirect_uris: ["http://127.0.0.1:8080/callback"], tile: {name: x}}
- {client_id: c, redirect_uris: ["http://127.0.0.1:3000/callback"]}
- {client_id: d, redirect_uris: ["http://127.0.0.1:3000/callback"], tile: {name: D}}
`
    expect(tilesIn(text).map(({ clientId }) => clientId)).to.deep.equal(['d'])
  })

  for (const [name, initials] of [
    ['Orders', 'OR'],
    ['Notes App', 'NA'],
    ['übung', 'ÜB'],
    ['😀', '?'],
    ['x', 'X'],
  ] as const)
    it(`${name} has the initials ${initials}`, () => {
      expect(initialsOf(name)).to.equal(initials)
    })
})
