/** Captures stdout and stderr of the process while still writing them. */
export const captureOutput = (): { text(): string; stop(): void } => {
  const written: string[] = []
  const restore = [process.stdout, process.stderr].map((stream) => {
    const before = Object.getOwnPropertyDescriptor(stream, 'write')
    const write = stream.write.bind(stream)
    const kept = (...given: Parameters<typeof write>) => {
      const [chunk] = given
      written.push(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('latin1'))
      return write(...given)
    }
    stream.write = kept as typeof stream.write
    return () => {
      if (before === undefined) Reflect.deleteProperty(stream, 'write')
      else Object.defineProperty(stream, 'write', before)
    }
  })
  return { text: () => written.join(''), stop: () => restore.forEach((undo) => undo()) }
}
