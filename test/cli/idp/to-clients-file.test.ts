import { expect } from 'chai'
import fc from 'fast-check'
import { parse } from 'yaml'
import type { Client } from '../../../cli/idp/clients.js'
import { readClientsFile, toClientsFile } from '../../../cli/idp/to-clients-file.js'
import { drill } from '../../support/drill.js'
import { expectGolden } from '../../support/golden.js'

const client = (id: string, description = ''): Client => ({
  client_id: id,
  client_secret: `dev-secret-${id}`,
  redirect_uris: [`https://${id}.dev.test/callback`],
  tile: { name: id, description, icon_url: '', launch_url: `https://${id}.dev.test/` },
})

const READ_AS_SOMETHING_ELSE = [
  ...['yes', 'No', 'on', 'OFF', 'y', 'N', 'true', 'null', '~', '', '=', '<<'],
  ...[
    '0',
    '007',
    '0o17',
    '0x1F',
    '0b1',
    '1_000',
    '1e3',
    '.5',
    '+1',
    '.inf',
    '.NaN',
    '12:30:45',
    '190:20:30.15',
  ],
  ...['2024-01-01', '2001-12-14t21:59:43.10-05:00', '-', '- a', 'a: b', 'a #b', '#a', '*a', '&a', '!a', '%a'],
  ...['@a', '`a', '[a', '{a', "'a", '"a', '? a', '|', '>', ' a', 'a ', '\t', 'a\nb', '\na', 'a\n\n', '---'],
  ...['a\u0085b', 'a\u2028b', 'a\u2029b', '\uFEFFa', '\u0000', '\u001b[31m', '\u007f', '😀', 'é'],
]

describe('toClientsFile', () => {
  it('writes a list without a header, every key always there', () => {
    expectGolden(
      'cli/clients-file.yaml.txt',
      toClientsFile([
        client('notes', 'Everything: written down'),
        client('007'),
        client('yes', 'two\nlines'),
      ]),
    )
  })

  for (const text of READ_AS_SOMETHING_ELSE)
    it(`writes ${JSON.stringify(text)} so that it is read as this text`, () => {
      const file = toClientsFile([client(text, text)])
      for (const version of ['1.1', '1.2'] as const)
        expect(parse(file, { version }), file).to.deep.equal([client(text, text)])
    })

  it('writes any text so that YAML 1.1 and 1.2 read it back', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }), (id, description) => {
        const clients = [client(id, description)]
        const file = toClientsFile(clients)
        for (const version of ['1.1', '1.2'] as const) expect(parse(file, { version })).to.deep.equal(clients)
      }),
      { numRuns: drill(500, 20_000) },
    )
  })
})

describe('readClientsFile', () => {
  it('reads what was written', () => {
    const clients = [client('a'), client('b')]
    expect([...(readClientsFile(toClientsFile(clients)) ?? [])]).to.deep.equal([
      ['a', clients[0]],
      ['b', clients[1]],
    ])
  })

  for (const text of [
    '',
    'null',
    'a: b',
    '- 1',
    '- client_id: 7',
    '- client_id',
    '[',
    '- &a *a',
    '\u0000',
    '- null',
  ])
    it(`takes ${JSON.stringify(text)} for no list of clients`, () => {
      expect(readClientsFile(text)).to.equal(undefined)
    })
})
