/**
 * Ashlar's services inside a NestJS application.
 * @module
 */
export { AshlarModule, type AshlarModuleAsyncOptions, type AshlarModuleOptions } from './ashlar-module.js'
export { AshlarExceptionFilter } from './exception-filter.js'
export type { Feature } from './feature.js'
export { type ConsumersOptions, OnEvent, type OnEventOptions, provideConsumers } from './on-event.js'
export { AshlarHealthIndicator, type HealthResult } from './health-indicator.js'
export { principalMiddleware } from './principal-middleware.js'
export { provideService, type ServedBy } from './provide-service.js'
export {
  dataSourceToken,
  InjectRepository,
  InjectServer,
  repositoryToken,
  serverToken,
  type Token,
} from './injection-tokens.js'
