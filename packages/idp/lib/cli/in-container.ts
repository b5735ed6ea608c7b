import { existsSync } from 'node:fs'

const SIGNS = ['/.dockerenv', '/run/.containerenv']

/**
 * Returns advice for a container, whose loopback addresses cannot be reached from outside, or undefined
 * outside a container.
 */
export const containerNote = (): string | undefined =>
  SIGNS.some((path) => existsSync(path)) || process.env['KUBERNETES_SERVICE_HOST'] !== undefined
    ? 'This is a container. The provider only listens on its loopback addresses: let its users share the network namespace (docker run --network container:<name>, or network_mode: "service:<name>" in a compose file).'
    : undefined
