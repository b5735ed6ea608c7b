import { listedRoutes, registerRoute } from '../edge/edge-client.js'
import { edgeHome } from '../edge/edge-home.js'
import { type RunningEdge, startEdge } from '../edge/start-edge.js'
import { DEFAULT_HOST } from '../provider/options.js'
import { startProvider } from '../provider/start-provider.js'
import type { Values } from './command.js'
import { providerOptionsOf } from './provider-flags.js'
import { linesOf } from './serve.js'
import { untilEnded } from './until-ended.js'

/** Runs `ashlar-idp up`. */
export async function up(values: Values): Promise<void> {
  const provider = await startProvider(providerOptionsOf(values))
  let edge: RunningEdge | undefined
  try {
    const home = edgeHome()
    const isRunning = (await listedRoutes(home)) !== undefined
    edge = isRunning ? undefined : await startEdge({ home })
    const host = values['host'] ?? DEFAULT_HOST
    const upstream = `http://127.0.0.1:${provider.port}`
    // This is the route that `idp up` registers, so that both renew it.
    await registerRoute(home, { host, upstream, project: 'idp', owner: 'de-idp' })
    for (const line of linesOf(provider)) console.log(line)
    console.log(
      edge === undefined
        ? `The edge that runs already serves the launchpad at ${host}.`
        : `The edge serves it at https://${host}${edge.port === 443 ? '' : `:${edge.port}`}/ too. How programs find the name and trust it: ashlar-idp edge trust`,
    )
  } catch (error) {
    await Promise.all([provider.close(), edge?.close()])
    throw error
  }
  untilEnded(async () => {
    await Promise.all([provider.close(), edge?.close()])
  })
}
