import { listedRoutes } from '../edge/edge-client.js'
import { edgeHome } from '../edge/edge-home.js'
import { statusTable } from '../edge/status-table.js'
import { Failure, NO_RESPONSE } from '../idp-failure.js'

/** Runs `ashlar-idp edge status`. */
export async function edgeStatus(): Promise<void> {
  const home = edgeHome()
  const routes = await listedRoutes(home)
  if (routes === undefined)
    throw new Failure(`no edge runs at ${home.socketPath}: start one with "ashlar-idp edge"`, NO_RESPONSE)
  for (const line of statusTable(routes)) console.log(line)
}
