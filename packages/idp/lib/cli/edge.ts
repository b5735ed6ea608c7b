import { startEdge } from '../edge/start-edge.js'
import { portOf } from '../provider/options.js'
import type { Values } from './command.js'
import { untilEnded } from './until-ended.js'

/** Runs `ashlar-idp edge`. */
export async function edge({ port }: Values): Promise<void> {
  const running = await startEdge(port === undefined ? {} : { port: portOf(port, '--port') })
  const suffix = running.port === 443 ? '' : `:${running.port}`
  console.log(
    `The edge serves https://<host>${suffix}/ for every route that is registered at ${running.socketPath}.`,
  )
  console.log('To trust its certificates: ashlar-idp edge trust')
  untilEnded(running.close)
}
