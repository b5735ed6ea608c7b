import { expect } from 'chai'
import { ForeignClient } from '../../support/grpc/clients.js'
import { startServer } from '../../support/servers/server.js'
import { KEYS } from './form-choices.js'
import type { Made } from './form-operations.js'
import type { Trial } from './open-forms.js'

interface Task {
  readonly id: string | number
  readonly orgId: string | number
  readonly title: string
  readonly count?: number
  readonly etag: string
}

/** The service of the resource, asked by both of its tenants over HTTP and gRPC. */
export async function callOver(trial: Trial, { theirs }: Pick<Made, 'theirs'>): Promise<void> {
  const { choice, formed, items, tenants } = trial
  const running = await startServer((builder) => builder.register(formed.service, items as never))
  const grpc = new ForeignClient(formed.service, running.grpc)
  const call = async (tenant: string, method: string, path: string, body?: object, headers: object = {}) => {
    const response = await fetch(`${running.http}/v1/${path}`, {
      method,
      headers: { 'account-id': tenant, subject: 'ada', 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: (await response.json()) as unknown as Task & { tasks?: Task[] } }
  }
  const [ours, other] = tenants
  const unary = (tenant: string, method: string, request: object) =>
    grpc.unary(method, request, { 'account-id': tenant, subject: 'ada' })
  try {
    const id = choice.key === 'minted' ? {} : { id: KEYS[choice.key].textOf(77) }
    const draft = { ...id, title: 'over HTTP', note: 'n', count: 5, orgId: other }
    const once = () => call(ours, 'POST', 'tasks', draft, { 'idempotency-key': 'once' })
    const made = await once()
    expect(made.status, JSON.stringify(made.body)).to.equal(200)
    expect(made.body).to.include({ title: 'over HTTP', count: 5 })
    expect(String(made.body.orgId)).to.equal(ours)
    expect((await once()).body.id).to.equal(made.body.id)
    const key = String(made.body.id)
    const path = `tasks/${key}`
    expect((await call(ours, 'GET', path)).body).to.include({ title: 'over HTTP', id: made.body.id })
    const stale = { 'if-match': `"${made.body.etag}"` }
    const update = (title: string, headers: object) =>
      call(ours, 'PATCH', `${path}?update_mask=title`, { title, count: 99 }, headers)
    expect((await update('changed', stale)).body).to.include({ title: 'changed', count: 5 })
    expect((await update('lost', stale)).status).to.equal(412)
    // The wire knows fields alone.
    const renamed = await call(ours, 'PATCH', `${path}?update_mask=heading`, { title: 'x' })
    expect(renamed.status).to.equal(400)
    const filter = encodeURIComponent('title = "changed" AND count = 5')
    const { body: listed } = await call(ours, 'GET', `tasks?filter=${filter}&order_by=count%20desc`)
    expect(listed.tasks?.map(({ title }) => title)).to.deep.equal(['changed'])
    const { answer, code } = await unary(ours, 'GetTask', { id: key })
    expect([code, answer?.title, String(answer?.org_id)]).to.deep.equal([0, 'changed', ours])

    for (const [tenant, named] of [
      [other, key],
      [ours, String(trial.keyOf(theirs))],
    ] as const) {
      const foreign = `tasks/${named}`
      const statuses = [
        (await call(tenant, 'GET', foreign)).status,
        (await call(tenant, 'PATCH', `${foreign}?update_mask=title`, { title: 'x' })).status,
        (await call(tenant, 'GET', `tasks:batchGet?ids=${named}`)).status,
        (await call(tenant, 'DELETE', foreign)).status,
      ]
      expect(statuses).to.deep.equal([404, 404, 404, 404])
      expect((await unary(tenant, 'GetTask', { id: named })).code).to.equal(5)
      expect((await unary(tenant, 'DeleteTask', { id: named })).code).to.equal(5)
    }
    const seen = await unary(other, 'ListTasks', {})
    expect((seen.answer?.tasks as Task[]).map(({ title }) => title)).to.deep.equal(['theirs'])

    expect((await call(ours, 'DELETE', path)).status).to.equal(200)
    expect((await call(ours, 'GET', path)).status).to.equal(404)
    if (choice.deletes !== 'softly') return
    expect((await call(other, 'POST', `${path}:undelete`, {})).status).to.equal(404)
    expect((await call(ours, 'POST', `${path}:undelete`, {})).body).to.include({ title: 'changed' })
  } finally {
    grpc.close()
    await running.stop()
  }
}
