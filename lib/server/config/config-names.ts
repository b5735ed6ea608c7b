import { misspelt } from '../../text/misspelt.js'
import type { Config, GatewayConfig, ResilienceConfig } from './config.js'

/** The names of a configuration that mean nothing, each said in words: what is misspelt would not protect anybody. */
export const unknownNames = (config: Config): string[] => [
  ...unknownIn('the configuration', config, CONFIG),
  ...unknownIn('`resilience`', config.resilience ?? {}, RESILIENCE),
  ...unknownIn('`gateway`', config.gateway ?? {}, GATEWAY),
]

const unknownIn = (where: string, given: object, known: object): string[] =>
  Object.keys(given)
    .filter((name) => !Object.hasOwn(known, name))
    .map((name) => misspelt(name, where, Object.keys(known)))

const CONFIG: Readonly<Record<keyof Config, true>> = {
  grpcAddr: true,
  httpAddr: true,
  rules: true,
  authorizer: true,
  principalFunc: true,
  authenticator: true,
  interceptors: true,
  httpHandlers: true,
  deduplicationStore: true,
  lroStore: true,
  logger: true,
  readinessChecks: true,
  resilience: true,
  gateway: true,
  tls: true,
  httpTls: true,
  limits: true,
  shutdownDelayMs: true,
  reflection: true,
  allowDevelopment: true,
}

const RESILIENCE: Readonly<Record<keyof ResilienceConfig, true>> = {
  requestTimeoutMs: true,
  perMethodTimeoutMs: true,
  rateLimiter: true,
  circuitBreaker: true,
}

const GATEWAY: Readonly<Record<keyof GatewayConfig, true>> = {
  updateMask: true,
  maxBodyBytes: true,
  forwardHeaders: true,
  responseHeaders: true,
  compress: true,
  cors: true,
  onIgnoredMask: true,
}
