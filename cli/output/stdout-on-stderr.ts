/**
 * Runs a user's code and redirects its output to stderr, so that stdout contains only the command's result.
 */
export async function withStdoutOnStderr<T>(work: () => Promise<T>): Promise<T> {
  const { stdout, stderr } = process
  const before = Object.getOwnPropertyDescriptor(stdout, 'write')
  stdout.write = stderr.write.bind(stderr)
  try {
    return await work()
  } finally {
    if (before === undefined) Reflect.deleteProperty(stdout, 'write')
    else Object.defineProperty(stdout, 'write', before)
  }
}
