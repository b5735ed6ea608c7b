import { expect } from 'chai'
import type { Client } from '../../../cli/idp/clients.js'
import { diffClients } from '../../../cli/idp/clients-diff.js'

const client = (id: string, name = id): Client => ({
  client_id: id,
  client_secret: `dev-secret-${id}`,
  redirect_uris: [`https://${id}.dev.test/callback`],
  tile: { name, description: '', icon_url: '', launch_url: '' },
})

const listing = (...entries: readonly object[]): ReadonlyMap<string, unknown> =>
  new Map(entries.map((entry) => [(entry as Client).client_id, entry]))

describe('diffClients', () => {
  it('says which clients are new, changed and gone', () => {
    expect(
      diffClients(listing(client('a'), client('b'), client('d')), [
        client('b', 'B'),
        client('c'),
        client('d'),
      ]),
    ).to.deep.equal({
      added: ['c'],
      changed: [{ client_id: 'b', fields: ['tile.name'] }],
      removed: ['a'],
    })
  })

  it('names fields that are there no more, and never a value', () => {
    const before = { ...client('a'), client_secret: 'real-secret', scopes: ['x'], tile: 'none' }
    const { changed } = diffClients(listing(before), [client('a')])
    expect(changed).to.deep.equal([{ client_id: 'a', fields: ['client_secret', 'tile', 'scopes'] }])
  })
})
