import { existsSync } from 'node:fs'

const SIGNS = ['/.dockerenv', '/run/.containerenv']

/** What to do in a container, where nobody outside can reach its loopback addresses; undefined elsewhere. */
export const containerNote = (): string | undefined =>
  SIGNS.some((path) => existsSync(path)) || process.env['KUBERNETES_SERVICE_HOST'] !== undefined
    ? 'This is a container. The provider listens on its loopback addresses only: let those who need it share the network namespace (docker run --network container:<name>, or network_mode: "service:<name>" in a compose file).'
    : undefined
