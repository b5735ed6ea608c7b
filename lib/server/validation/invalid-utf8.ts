import { type DescMessage, type Message, ScalarType } from '@bufbuild/protobuf'
import { type Path, pathToString, reflect, type ReflectMessage } from '@bufbuild/protobuf/reflect'

const decoder = new TextDecoder('utf-8', { fatal: true })

const isUtf8 = (value: unknown): boolean => {
  try {
    decoder.decode(value as Uint8Array)
    return true
  } catch {
    return false
  }
}

/** Returns the path of the first string field that is not valid UTF-8, to which no pattern can be applied. */
export function invalidUtf8In(desc: DescMessage, message: Message): string | undefined {
  const path = search(reflect(desc, message))
  return path && pathToString(path)
}

function search(message: ReflectMessage, at: Path = []): Path | undefined {
  for (const field of message.fields) {
    if (!message.isSet(field)) continue
    for (const [step, value] of valuesOf(message, field)) {
      const path = [...at, field, ...step]
      const isMessage = field.message !== undefined
      if (isMessage) {
        const found = search(value as ReflectMessage, path)
        if (found !== undefined) return found
      } else if (field.scalar === ScalarType.BYTES && !isUtf8(value)) return path
    }
  }
  return undefined
}

function* valuesOf(
  message: ReflectMessage,
  field: ReflectMessage['fields'][number],
): Generator<readonly [step: Path, value: unknown]> {
  switch (field.fieldKind) {
    case 'list':
      for (const [index, value] of [...message.get(field)].entries())
        yield [[{ kind: 'list_sub', index }], value]
      return
    case 'map':
      for (const [key, value] of message.get(field)) yield [[{ kind: 'map_sub', key: key as string }], value]
      return
    default:
      yield [[], message.get(field)]
  }
}
