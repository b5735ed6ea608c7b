/** The packages of the NATS client. */
export interface NatsPackages {
  readonly transport: typeof import('@nats-io/transport-node')
  readonly jetstream: typeof import('@nats-io/jetstream')
}

export const MISSING_PACKAGES =
  'NATS requires packages: npm install @nats-io/jetstream @nats-io/transport-node'

/** Returns undefined if the packages are not installed. */
export async function loadNats(): Promise<NatsPackages | undefined> {
  try {
    const [transport, jetstream] = await Promise.all([
      import('@nats-io/transport-node'),
      import('@nats-io/jetstream'),
    ])
    return { transport, jetstream }
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_MODULE_NOT_FOUND') return undefined
    throw error
  }
}
