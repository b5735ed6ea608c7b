import { exchanges } from '../tour/exchanges.js'
import type { Screen } from '../tour/screen.js'

/** The same tour in HTTP/JSON, as lines that can be pasted. Throws when a status is not the expected one. */
export async function httpTour(url: string, screen: Screen): Promise<void> {
  const ask = exchanges(url, screen, { 'account-id': 'initech', groups: 'staff' })

  screen.title('HTTP/JSON, the same calls through the gateway')
  screen.step('Create')
  const { etag } = await ask({
    method: 'POST',
    path: '/v1/widgets?widgetId=anvil',
    body: { displayName: 'Anvil', size: 7, state: 'ACTIVE' },
    status: 200,
  })
  await ask({
    method: 'POST',
    path: '/v1/widgets?widgetId=bolt',
    body: { displayName: 'Bolt', size: 1, state: 'ACTIVE' },
    status: 200,
  })
  screen.shows('proto3 JSON; the etag is a plain response header as well.')

  screen.step('Get and list')
  await ask({ path: '/v1/widgets/anvil', status: 200 })
  await ask({
    path: `/v1/widgets?filter=${encodeURIComponent('size > 1')}&order_by=size%20desc&page_size=1`,
    status: 200,
  })
  screen.shows('Query parameters in either spelling; an unknown one is a 400 that names it.')

  screen.step('Update one field with If-Match, then with a stale one')
  const patch = {
    method: 'PATCH',
    path: '/v1/widgets/anvil?update_mask=size',
    body: { size: 8 },
    headers: { 'if-match': etag },
  }
  await ask({ ...patch, status: 200 })
  await ask({ ...patch, status: 412 })
  screen.shows('412 Precondition Failed: somebody wrote in between.')

  screen.step('Delete, show deleted, undelete')
  await ask({ method: 'DELETE', path: '/v1/widgets/bolt', status: 200 })
  await ask({ path: '/v1/widgets/bolt', status: 404 })
  await ask({ path: '/v1/widgets?show_deleted=true&filter=size%20%3D%201', status: 200 })
  await ask({ method: 'POST', path: '/v1/widgets/bolt:undelete', body: {}, status: 200 })
  screen.shows('A custom verb is a suffix of the path (AIP-136).')

  screen.step('A batch that fails changes nothing')
  const requests = ['anvil', 'nobody'].map((id) => ({ widget: { id, size: 100 }, updateMask: ['size'] }))
  await ask({ method: 'POST', path: '/v1/widgets:batchUpdate', body: { requests }, status: 404 })
  const { text } = await ask({ path: '/v1/widgets/anvil?read_mask=size', status: 200 })
  if (!text.includes('"size":8')) throw new Error('the batch was not atomic')
  screen.shows('size is still 8.')

  screen.step('What is refused')
  await ask({ path: '/v1/widgets/anvil', as: { 'account-id': 'globex', groups: 'staff' }, status: 404 })
  await ask({ path: '/v1/widgets/anvil', as: {}, status: 403 })
  await ask({ path: `/v1/widgets?filter=${encodeURIComponent('sise > 1')}`, status: 400 })
  await ask({ method: 'POST', path: '/v1/widgets', body: { size: 'big' }, status: 400 })
  screen.shows('Another tenant: 404. Nobody: 403. A mistake: 400 with the field and what to do.')
}
