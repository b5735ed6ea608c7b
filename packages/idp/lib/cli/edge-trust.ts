import { openAuthority } from '../edge/authority.js'
import { edgeHome } from '../edge/edge-home.js'
import { trustLines } from '../edge/trust.js'

/** Runs `ashlar-idp edge trust`. */
export async function edgeTrust(): Promise<void> {
  const { folder } = edgeHome()
  const { path } = await openAuthority(folder)
  for (const line of trustLines(path, folder)) console.log(line)
}
