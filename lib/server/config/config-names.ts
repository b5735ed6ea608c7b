import { misspelt } from '../../text/misspelt.js'
import type { Config, GatewayConfig } from './config.js'
import { CONFIG_FIELDS, RESILIENCE_FIELDS } from './fields.js'

/** The names of a configuration that mean nothing, each said in words: what is misspelt would not protect anybody. */
export const unknownNames = (config: Config): string[] => [
  ...unknownIn('the configuration', config, CONFIG_FIELDS),
  ...unknownIn('`resilience`', config.resilience ?? {}, RESILIENCE_FIELDS),
  ...unknownIn('`gateway`', config.gateway ?? {}, GATEWAY),
]

const unknownIn = (where: string, given: object, known: object): string[] =>
  Object.keys(given)
    .filter((name) => !Object.hasOwn(known, name))
    .map((name) => misspelt(name, where, Object.keys(known)))

const GATEWAY: Readonly<Record<keyof GatewayConfig, true>> = {
  updateMask: true,
  maxBodyBytes: true,
  forwardHeaders: true,
  responseHeaders: true,
  compress: true,
  cors: true,
  onIgnoredMask: true,
}
