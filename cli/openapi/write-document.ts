import { readFileSync } from 'node:fs'
import { Failure } from '../errors/failure.js'
import { moduleFailure } from '../errors/problems-text.js'
import { type Served, servedBy } from '../loading/served.js'
import { FOR_EVERYBODY, readWholeFile, writeWholeFile } from '../output/whole-file.js'
import { firstDifference } from './first-difference.js'

export interface DocumentOptions {
  /** The compiled module of a server, a builder or generated services. */
  readonly module: string
  readonly exportName: string | undefined
  /** The file of a buf image. */
  readonly image: string | undefined
  readonly out: string | undefined
  /** If true, compares the file instead of writing it. */
  readonly check: boolean
}

export interface WrittenDocument {
  /** The document, followed by a newline. */
  readonly text: string
  /** The first line that differs in the compared file. */
  readonly difference: string | undefined
}

/** Creates the document of a module, and writes or compares it. */
export async function document(options: DocumentOptions): Promise<WrittenDocument> {
  const { module, exportName, image, out, check } = options
  const info = image === undefined ? {} : { image: bytesOf(image) }
  const served = await servedBy(module, exportName)
  const { openApi } = await import('../../lib/server/index.js')
  try {
    const text = await openApi(sourceOf(served), info)
    if (out === undefined) return { text, difference: undefined }
    if (check) return { text, difference: firstDifference(readWholeFile(out, out), text) }
    writeWholeFile(out, text, out, FOR_EVERYBODY)
    return { text, difference: undefined }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw moduleFailure(module, error)
  }
}

/** Returns the source of the document. The server does not listen, so it needs no address. */
function sourceOf(served: Served) {
  if (served.kind === 'services') return served.services
  return served.kind === 'server'
    ? served.server
    : served.builder.build((config) => ({ ...config, grpcAddr: config.grpcAddr ?? ':0' }))
}

function bytesOf(path: string): Uint8Array {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new Failure('input', `${path} cannot be read: ${(error as Error).message}`, { cause: error })
  }
}
