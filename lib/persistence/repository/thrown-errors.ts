/** The errors that repositories have thrown. */
const thrown = new WeakSet<object>()

/** Records an error that an operation of a repository throws, and returns it. */
export const recordThrown = (error: unknown): unknown => {
  if (typeof error === 'object' && error !== null) thrown.add(error)
  return error
}

/** Whether an operation of a repository threw the error, and not the application's code around it. */
export const isOfRepository = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && thrown.has(error)
