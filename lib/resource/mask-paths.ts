import { InvalidArgument } from '../errors.js'

/** The maximum number of paths in one mask. */
export const MAX_MASK_PATHS = 1000
/** The maximum length of one path in characters. */
export const MAX_MASK_PATH_LENGTH = 4096

/**
 * Rejects an excessive mask before its paths are parsed.
 * @param field - the request's field, for the error.
 * @throws InvalidArgument if there are too many paths, or if one is too long.
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

/**
 * The error for an update mask that names a field it cannot write. It is reported to the caller if the
 * request contains that name.
 */
export class InvalidMask extends InvalidArgument {
  override readonly name = 'InvalidArgument'

  /**
   * @param maskName - the name as written in the mask.
   * @param advice - a remark for application code only.
   */
  constructor(
    readonly maskName: string,
    readonly description: string,
    advice?: string,
  ) {
    super('update_mask', advice === undefined ? description : `${description}: ${advice}`)
  }
}

/** Returns the description of a mask's unknown field. */
export const noSuchField = (name: string, writable: ReadonlySet<string>): string =>
  `there is no field ${JSON.stringify(name)}: use ${[...writable].join(', ')}`
