import { startProvider } from 'ashlar-idp'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jsonLogger } from '../../lib/index.js'
import type { Screen } from '../tour/screen.js'
import { signInServer } from './main.js'

export interface SignInDemoOptions {
  readonly isOnce: boolean
  readonly grpcAddr: string
  readonly httpAddr: string
  readonly providerPort: number
  readonly screen: Screen
  readonly stop: AbortController
}

const CLIENT = 'widgets'

/** A provider, the widget service, and a page. Another tenant's user sees none of what one tenant has. */
export async function signInDemo(options: SignInDemoOptions): Promise<void> {
  const { screen, stop, httpAddr, grpcAddr } = options
  const folder = mkdtempSync(join(tmpdir(), 'ashlar-sign-in-'))
  const port = /:(\d+)$/.exec(httpAddr)?.[1] ?? '3000'
  const clients = join(folder, 'idp-clients.yaml')
  writeFileSync(clients, clientsFor(`http://localhost:${port}`))
  try {
    const provider = await startProvider({
      port: options.providerPort,
      clients,
      users: join(folder, 'idp-users.yaml'),
      state: join(folder, 'state'),
    })
    const server = await signInServer({
      ...{ issuer: provider.issuer, clientId: CLIENT, clientSecret: `dev-secret-${CLIENT}` },
      ...{ database: ':memory:', grpcAddr, httpAddr, logger: jsonLogger('error') },
    })
    const serving = server.serve(stop.signal)
    await Promise.race([server.ready(), serving])
    await tour(`http://127.0.0.1:${port}`, (user) => provider.token({ user, client: CLIENT }), screen)
    if (options.isOnce) stop.abort()
    else {
      screen.title('Still running')
      screen.say(`Page       http://localhost:${port}/app   (sign in as Alice, then as Carol)`)
      screen.say(`Launchpad  ${provider.issuer}`)
      screen.say('Ctrl-C ends it.')
    }
    if (!stop.signal.aborted) await once(stop.signal, 'abort')
    await serving
    await provider.close()
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const clientsFor = (origin: string): string => `- client_id: ${CLIENT}
  client_secret: dev-secret-${CLIENT}
  redirect_uris: [${origin}/callback]
  tile: { name: Widgets, description: The widgets of your tenant, icon_url: "", launch_url: "${origin}/login" }
`

async function tour(url: string, tokenOf: (user: string) => Promise<string>, screen: Screen): Promise<void> {
  const call = async (user: string | undefined, body?: object): Promise<unknown> => {
    const method = body === undefined ? 'GET' : 'POST'
    screen.asked(
      `${method} /v1/widgets ${user === undefined ? 'without a token' : `with a token of ${user}`}`,
    )
    const response = await fetch(`${url}/v1/widgets`, {
      method,
      headers: {
        'content-type': 'application/json',
        ...(user !== undefined && { authorization: `Bearer ${await tokenOf(user)}` }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const value = (await response.json()) as object
    screen.answered({ status: response.status, ...value })
    return value
  }
  screen.title('Sign-in')
  screen.step('Nobody is signed in')
  await call(undefined)
  screen.shows('The service believes no headers: it asks for a token of the provider.')
  screen.step('Alice of acme adds a widget')
  await call('alice', { displayName: 'Ash widget', size: 1 })
  screen.step('Bob of acme sees it')
  await call('bob')
  screen.step('Carol of globex does not')
  const { widgets } = (await call('carol')) as { readonly widgets: readonly unknown[] }
  screen.shows(
    `Carol sees ${widgets.length} widgets: the tenant is in the token, and the service reads it there.`,
  )
}
