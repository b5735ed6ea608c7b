/**
 * Test servers, callers, clocks and contracts for the tests of an application.
 * @module
 */
export { caughtUp } from './harness/caught-up.js'
export type { CallFailure, TestedCall } from './harness/call-failure.js'
export { captureLogs, type CapturedLogs, type LogRecord } from './harness/captured-logs.js'
export { type CapturedSql, type CapturedStatement, captureSql } from './harness/captured-sql.js'
export type { ContractFactory, ContractRepository, ContractSubject } from './contract/subject.js'
export { expectDenied } from './harness/expect-denied.js'
export { expectInvalidField } from './harness/expect-invalid-field.js'
export { fixedClock, type FixedClock } from './harness/fixed-clock.js'
export { fixedIds } from './harness/fixed-ids.js'
export { OptionError } from '../errors.js'
export { repositoryContract } from './contract/repository-contract.js'
export type {
  Accepted,
  AcceptedFinding,
  NotChecked,
  SecurityCheckName,
  SecurityFinding,
  SecurityReport,
} from './security/world/report.js'
export type { RequestFactory } from './security/naming-request.js'
export type { Requests } from './security/own-requests.js'
export type { Preparation, Preparations } from './security/world/prepare.js'
export { securityCheck, type SecurityOptions } from './security/security-check.js'
export type { TestFramework } from './harness/test-framework.js'
export { type TestCaller, testServer, type TestServer } from './harness/test-server.js'
export { type Identity, principalHeaders, type TestPrincipal } from './harness/principal-headers.js'
export { withTenant } from './harness/with-tenant.js'
