import { expect } from 'chai'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { textOf } from '../../sources/documents.js'
import type { Recipe } from './recipe.js'

const PAGE = 'docs/guides/modelling.md'

/** A test that calls the code of the recipe. */
const TEST = `import assert from 'node:assert/strict'
import { it } from 'node:test'
import { startApp } from './app.js'

it('are deleted, listed and restored', async () => {
  const app = await startApp()
  const acme = app.as('acme')
  const made = await acme('POST', '/v1/invitations?invitation_id=one', { email: 'ada@example.com' })
  assert.equal(made.status, 200, JSON.stringify(made.body))
  assert.equal((await acme('DELETE', '/v1/invitations/one')).status, 200)
  const patched = await acme('PATCH', '/v1/invitations/one?update_mask=email', { email: 'a@example.com' })
  const got = await acme('GET', '/v1/invitations/one')
  const again = await acme('DELETE', '/v1/invitations/one')
  assert.deepEqual([got.status, patched.status, again.status], [404, 404, 404])
  assert.deepEqual((await acme('GET', '/v1/invitations')).body.invitations ?? [], [])
  const [deleted] = (await acme('GET', '/v1/invitations?show_deleted=true')).body.invitations
  assert.equal(typeof deleted.deleteTime, 'string')

  const restored = await acme('POST', '/v1/invitations/one:undelete', { etag: deleted.etag })
  assert.equal(restored.status, 200, JSON.stringify(restored.body))
  assert.deepEqual([restored.body.email, restored.body.deleteTime], ['ada@example.com', undefined])
  assert.equal((await acme('GET', '/v1/invitations/one')).status, 200)
  assert.equal((await app.as('acme', 'visitors')('POST', '/v1/invitations/one:undelete', {})).status, 403)
  await app.stop()
})
`

/** The recipe "A soft-deletable resource". */
export const softDeleteRecipe: Recipe = {
  page: PAGE,
  follow: async (project) => {
    const recipe = /\n### A soft-deletable resource\n(.*?)\n### /s.exec(textOf(PAGE))?.[1] ?? ''
    const [, words = '', fields = ''] =
      /npx ashlar (generate resource \w+) --fields '(.*)'/.exec(recipe) ?? []
    const files = [...recipe.matchAll(/`([\w./-]+\.(?:proto|ts))`[^`]*?:\n\n```\w+\n(.*?)```/gs)]
    expect(files.map(([, file]) => file)).to.deep.equal([
      './proto/shop/v1/invitation.proto',
      'src/invitations/invitation.ts',
    ])
    const { exit, stderr } = await project.ashlar(...words.split(' '), '--fields', fields)
    expect([exit, stderr]).to.deep.equal([0, ''])
    for (const [, file = '', text = ''] of files) writeFileSync(join(project.folder, file), text)
    writeFileSync(join(project.folder, 'test/soft-delete.test.ts'), TEST)
  },
}
