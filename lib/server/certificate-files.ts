import { WatchedFile } from '../files/watched-file.js'
import { readTls, type TlsConfig, tlsFiles, type TlsNow, tlsProblems } from './config/tls.js'
import type { Logger } from './observability/logger.js'

const DEBOUNCE_MS = 200
/** Polls because some file systems do not report changes. */
const RECHECK_MS = 10_000

/** A listener that is notified of a renewed certificate. */
interface Listening {
  readonly logger: Logger
  readonly use: (tls: TlsNow) => void
}

/**
 * A listener's certificate, reloaded when one of its files changes. If the new files are unusable, such as a
 * key that does not match the certificate yet, an error is logged once and the last valid certificate stays
 * in use.
 */
export class CertificateFiles {
  #watched: readonly WatchedFile[] = []
  /** The certificate in use; undefined until the files are watched. */
  #used: string | undefined
  #problems = ''

  private constructor(
    private readonly field: string,
    private readonly tls: TlsConfig,
    private readonly listening: Listening,
  ) {}

  static async watch(field: string, tls: TlsConfig, listening: Listening): Promise<CertificateFiles> {
    const certificate = new CertificateFiles(field, tls, listening)
    const open = async (file: string) => {
      const watched: WatchedFile = await WatchedFile.open(file, {
        debounceMs: DEBOUNCE_MS,
        recheckMs: RECHECK_MS,
        read: async () => {
          await watched.follow()
          certificate.#read()
        },
        unwatched: (code) => {
          const fields = { file, code, recheckMs: RECHECK_MS }
          listening.logger.warn(fields, 'the system does not watch the certificate file')
        },
      })
      watched.readIn(RECHECK_MS)
      return watched
    }
    certificate.#watched = await Promise.all(tlsFiles(tls).map(open))
    // The files may have changed since the listener was created.
    if (certificate.#watched.length > 0) certificate.#read()
    return certificate
  }

  async close(): Promise<void> {
    await Promise.all(this.#watched.map((watched) => watched.close()))
  }

  #read(): void {
    const { field, tls, listening } = this
    const files = tlsFiles(tls)
    const problems = tlsProblems(field, tls).map(({ text }) => text)
    const isNews = problems.join('\n') !== this.#problems
    this.#problems = problems.join('\n')
    if (problems.length > 0) {
      if (isNews)
        listening.logger.error({ files, problems }, 'the certificate is not used: the last good one stays')
      return
    }
    const now = readTls(tls)
    if (textOf(now) === this.#used) return
    listening.use(now)
    if (this.#used !== undefined) listening.logger.info({ files }, 'the certificate is renewed')
    this.#used = textOf(now)
  }
}

const textOf = ({ certificateChain, privateKey, clientCa = '' }: TlsNow): string =>
  [certificateChain, privateKey, clientCa].map(String).join('\n')
