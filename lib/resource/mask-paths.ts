import { InvalidArgument } from '../errors.js'

/** The most paths of one mask. */
export const MAX_MASK_PATHS = 1000
/** The most characters of one path. */
export const MAX_MASK_PATH_LENGTH = 4096

/**
 * Refuses a mask that no resource needs, before its paths are read.
 * @param field - the request's field, for the error.
 * @throws InvalidArgument when there are too many paths, or one is too long.
 */
export function checkMaskPaths(field: 'read_mask' | 'update_mask', paths: readonly string[]): void {
  if (paths.length > MAX_MASK_PATHS)
    throw new InvalidArgument(field, `has ${paths.length} paths: name at most ${MAX_MASK_PATHS}`)
  for (const { length } of paths)
    if (length > MAX_MASK_PATH_LENGTH)
      throw new InvalidArgument(
        field,
        `has a path of ${length} characters: use at most ${MAX_MASK_PATH_LENGTH}`,
      )
}

/** An update mask names what it cannot write. A server reports it to a caller whose request names it. */
export class InvalidMask extends InvalidArgument {
  override readonly name = 'InvalidArgument'

  /**
   * @param maskName - as the mask has it.
   * @param advice - for code alone.
   */
  constructor(
    readonly maskName: string,
    readonly description: string,
    advice?: string,
  ) {
    super('update_mask', advice === undefined ? description : `${description}: ${advice}`)
  }
}

/** A mask names what is not a field that it may write. */
export const noSuchField = (name: string, writable: ReadonlySet<string>): string =>
  `there is no field ${JSON.stringify(name)}: use ${[...writable].join(', ')}`
